-- The queue with most puts a second (QQST).
SELECT
    system, qmgr, 'queue ' || arg_max(qqstqnam, (rate, qqstqnam)) AS about,
    max(rate) AS rate, arg_max(kb, (rate, qqstqnam)) AS message_kb
FROM (
    SELECT system, qmgr, qqstqnam, puts_per_second AS rate, bytes_put::DOUBLE / nullif(puts, 0) / 1024 AS kb
    FROM queue_by_qmgr('inputs.qqst')
)
WHERE rate > 0
GROUP BY ALL
ORDER BY system, qmgr
