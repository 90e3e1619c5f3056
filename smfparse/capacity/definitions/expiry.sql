-- The queue with most puts a second (QQST).
WITH
queues AS (
    SELECT
        system, qmgr, qqstqnam AS queue,
        sum(qqstputs + qqstput1) / nullif(total(interval_seconds), 0) AS rate,
        sum(qqstputb + qqstpt1b)::DOUBLE / nullif(sum(qqstputs + qqstput1), 0) / 1024 AS kb
    FROM qqst
    GROUP BY ALL
)
SELECT
    system, qmgr, 'queue ' || arg_max(queue, (rate, queue)) AS about,
    max(rate) AS rate, arg_max(kb, (rate, queue)) AS message_kb
FROM queues
WHERE rate > 0
GROUP BY ALL
ORDER BY system, qmgr
