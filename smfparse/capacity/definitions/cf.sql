-- Messages put to shared queues (WQST).
SELECT
    system, qmgr,
    sum(putbytes)::DOUBLE / nullif(sum(validput), 0) AS message_bytes,
    sum(validput) / nullif(any_value(seconds), 0) AS arrivals
FROM wqst
LEFT JOIN covered_of_qmgrs('wqst', 'qmst') USING (system, qmgr)
WHERE cfstrucname <> ''
GROUP BY system, qmgr
HAVING sum(validput) > 0
ORDER BY ALL
