-- Messages put to shared queues (WQST).
SELECT
    system, qmgr,
    sum(putbytes)::DOUBLE / nullif(sum(validput), 0) AS message_bytes,
    sum(validput) / nullif(covered(time, interval_seconds), 0) AS arrivals
FROM wqst
WHERE cfstrucname <> ''
GROUP BY ALL
HAVING sum(validput) > 0
ORDER BY ALL
