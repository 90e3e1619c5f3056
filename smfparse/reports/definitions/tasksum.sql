-- TASKSUM: the tasks (WTID, WTAS, WQST) in one row per section, kind of connection, job and user; with `by`, also per
-- transaction.
WITH
queues AS (
    SELECT
        of_source, task_record, min(token) AS token, sum(all_calls) AS requests,
        sum(putn::BIGINT + put1n) AS puts, sum(getn) AS gets,
        total(all_elapsed) AS elapsed, total(all_cpu) AS cpu,
        total(elapsed_of) AS timed, total(cpu_of) AS cpu_timed
    FROM queue_use_facts('sectioned.wqst')
    GROUP BY ALL
),
tasks AS (SELECT of_source, task_record, record_no, block_no, token FROM task_facts('sectioned.wtas')),
-- Figures of tasks that are not about a queue. They are omitted if queues are selected, because they may belong to
-- other queues.
beside AS (FROM task_facts('sectioned.wtas') WHERE NOT getvariable('of_queues')),
-- The identity of each task; if its 116/1 record is missing, from its first 116/2 record.
named AS (
    SELECT
        section, of_source, task_record, figures_of_wtid, asked_for('transaction', program) AS "transaction"
    FROM identity_facts('sectioned.wtid')
    QUALIFY row_number() OVER (
        PARTITION BY of_source, task_record
        ORDER BY source <> of_source, source, record_offset
    ) = 1
)
SELECT
    named.* EXCLUDE (of_source, task_record),
    count(DISTINCT coalesce(tasks.token, queues.token)) AS tasks, count(tasks.record_no) AS task_intervals,
    coalesce(sum(requests), 0)::BIGINT AS requests,
    coalesce(sum(puts), 0)::BIGINT AS puts, coalesce(sum(gets), 0)::BIGINT AS gets,
    total(coalesce(all_elapsed, 0) + coalesce(queues.elapsed, 0)) / 1e6 AS elapsed_seconds,
    total(coalesce(all_cpu, 0) + coalesce(queues.cpu, 0)) / 1e6 AS cpu_seconds,
    total(queues.elapsed) / nullif(total(timed), 0) AS request_elapsed,
    total(queues.cpu) / nullif(total(cpu_timed), 0) AS request_cpu,
    measures_of_task
FROM named
LEFT JOIN tasks USING (of_source, task_record)
LEFT JOIN beside USING (of_source, task_record, block_no)
LEFT JOIN queues USING (of_source, task_record)
GROUP BY ALL
