-- The queue with the most puts per second.
SELECT
    system, qmgr, 'queue ' || arg_max(queue, (rate, queue)) AS about,
    max(rate) AS rate, arg_max(kb, (rate, queue)) AS message_kb
FROM (
    SELECT system, qmgr, queue, puts_per_second AS rate, bytes_put::DOUBLE / nullif(puts, 0) / 1024 AS kb
    FROM queue_by_qmgr('inputs.qqst') AS its(system, qmgr, queue)
)
WHERE rate > 0
GROUP BY ALL
