-- Messages put to shared queues.
SELECT
    system, qmgr,
    sum(bytes_put)::DOUBLE / nullif(sum(messages_put), 0) AS message_bytes,
    sum(messages_put) / nullif(any_value(seconds), 0) AS arrivals
FROM queue_use_figures
LEFT JOIN covered_of_qmgrs('wqst', 'qmst') USING (system, qmgr)
WHERE structure IS NOT NULL
GROUP BY system, qmgr
HAVING sum(messages_put) > 0
