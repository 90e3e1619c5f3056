-- Common table expressions that several accounting panels use. Each row is distributed over the intervals of its queue
-- manager in Python.
WITH
owners AS MATERIALIZED (SELECT * FROM owners('inputs.wtid')),
queue_calls AS MATERIALIZED (
    SELECT * REPLACE (coalesce(job, '?') AS job) FROM queue_calls('inputs.wqst', 'owners')
),
task_calls AS MATERIALIZED (
    SELECT * REPLACE (coalesce(job, '?') AS job) FROM task_calls('inputs.wtas', 'owners')
),
client_calls AS MATERIALIZED (
    SELECT * FROM queue_calls
    ANTI JOIN message_channels('inputs.qcst') USING (system, qmgr, channel)
    WHERE channel IS NOT NULL
),
calls AS MATERIALIZED (
    FROM calls_by_verb('queue_calls') UNION ALL FROM calls_by_verb('task_calls')
)
