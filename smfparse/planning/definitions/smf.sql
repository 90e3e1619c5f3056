-- Records of accounting class 3, and queues in statistics of class 5.
WITH
queues AS (
    SELECT system, qmgr, max(queues) AS queues, sum(queues) AS of_all, median(seconds) AS statime
    FROM (
        SELECT system, qmgr, interval_start, count(*) AS queues, max(interval_seconds) AS seconds
        FROM queue_figures
        GROUP BY ALL
    )
    GROUP BY ALL
),
bytes AS (
    SELECT system, qmgr, sum(length)::DOUBLE AS bytes
    FROM record
    WHERE type = 115 AND subtype = 216
    GROUP BY ALL
)
SELECT
    system, qmgr, calls_a_second, tasks, length AS interval, task_records, record_bytes, queues, statime,
    bytes / nullif(of_all, 0) AS bytes_a_queue
FROM accounting('inputs.wtas', 'inputs.wtid', 'inputs.record', 'task', 'inputs.qmst')
FULL JOIN queues USING (system, qmgr)
LEFT JOIN bytes USING (system, qmgr)
WHERE calls_a_second > 0 OR length > 0 OR queues > 0
