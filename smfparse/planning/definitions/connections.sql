-- 31-bit storage of the queue manager, and what of it a channel took. These records have no interval; the channel
-- initiator writes those of the same interval within half a minute.
WITH
storage AS (
    SELECT
        system, qmgr, smf_time, smf_time + INTERVAL 30 SECONDS AS latest, allocated / 1024 AS kb,
        (available - reserved) / 1048576 AS left_now
    FROM region_figures
),
together AS (
    SELECT s.*, c.current_channels AS channels
    FROM storage AS s
    ASOF LEFT JOIN chinit_figures AS c
        ON s.system = c.system AND s.qmgr = c.qmgr AND s.latest >= c.smf_time
)
SELECT
    system, qmgr,
    greatest(min(left_now), 0) AS left_mb,
    list([channels::DOUBLE, kb] ORDER BY smf_time, channels, kb) FILTER (channels IS NOT NULL)
        AS kb_each
FROM together
GROUP BY system, qmgr
