-- Common table expressions that several lines use, each computed once. CPU is in microseconds.
WITH
owners AS MATERIALIZED (SELECT * FROM owners('inputs.wtid')),
queue_calls AS MATERIALIZED (FROM queue_calls('inputs.wqst', 'owners')),
task_calls AS MATERIALIZED (FROM task_calls('inputs.wtas', 'owners')),
-- CPU and number of calls of each API verb.
verbs AS MATERIALIZED (
    SELECT system, qmgr, start, seconds, verb, sum(calls) AS calls, total(cpu) AS cpu
    FROM (FROM calls_by_verb('queue_calls') UNION ALL FROM calls_by_verb('task_calls'))
    WHERE calls > 0 OR cpu > 0
    GROUP BY ALL
),
-- CPU of all calls, with and without a queue.
cpu_of_jobs AS (
    SELECT system, qmgr, job, "transaction", start, seconds, cpu FROM queue_calls
    UNION ALL
    SELECT system, qmgr, job, "transaction", start, seconds, cpu FROM task_calls
),
message_channels AS (FROM message_channels('inputs.qcst')),
client_calls AS (
    SELECT * FROM queue_calls
    ANTI JOIN message_channels USING (system, qmgr, channel)
    WHERE channel IS NOT NULL
)
