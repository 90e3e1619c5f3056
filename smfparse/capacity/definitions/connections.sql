-- 31-bit storage of the queue manager (QSRS), and what of it a channel took.
WITH
storage AS (
    SELECT *, qsrseloal / 1024 AS kb,
        (qsrsaval - qsrssos - qsrscrit - qsrsmvs) / 1048576 AS left_now
    FROM qsrs
),
together AS (
    SELECT s.system, s.qmgr, s.time, s.kb, s.left_now, c.qcctnocc AS channels
    FROM storage AS s
    ASOF LEFT JOIN qcct AS c ON s.system = c.system AND s.qmgr = c.qmgr AND s.time >= c.time
)
SELECT
    system, qmgr,
    greatest(min(left_now), 0) AS left_mb,
    list([channels::DOUBLE, kb] ORDER BY time, channels, kb) FILTER (channels IS NOT NULL)
        AS kb_each
FROM together
GROUP BY system, qmgr
ORDER BY system, qmgr
