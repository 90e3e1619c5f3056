-- 31-bit storage of the queue manager, and its storage per channel. Storage records (115/7) have no interval. They are
-- joined to the channel initiator record that is written within half a minute.
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
