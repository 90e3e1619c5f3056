-- Records of accounting class 3, and queues in statistics of class 5.
WITH
calls AS (SELECT system, qmgr, sum(calls)::BIGINT AS calls FROM task GROUP BY ALL),
tasks AS (
    SELECT
        system, qmgr, median(interval_seconds) AS length, count(*) AS records,
        covered(time, interval_seconds) AS seconds
    FROM wtas
    GROUP BY ALL
),
bytes AS (
    SELECT system, qmgr, sum(length)::BIGINT AS bytes
    FROM record
    WHERE type = 116 AND subtype IN (1, 2)
    GROUP BY ALL
),
queues AS (
    SELECT system, qmgr, max(queues) AS queues
    FROM (
        SELECT system, qmgr, interval_start, count(*) AS queues
        FROM qqst
        GROUP BY ALL
    )
    GROUP BY ALL
)
SELECT
    system, qmgr,
    calls / nullif(seconds, 0) AS calls_a_second,
    round(records * length / nullif(seconds, 0))::BIGINT AS tasks,
    length AS interval,
    bytes / nullif(records, 0) AS record_bytes,
    queues
FROM tasks
FULL JOIN calls USING (system, qmgr)
FULL JOIN bytes USING (system, qmgr)
FULL JOIN queues USING (system, qmgr)
WHERE length > 0 OR queues > 0
ORDER BY system, qmgr
