-- Log, puts, adapters, pages, accounting, and the share of puts to queues whose names match a pattern.
WITH
puts AS (
    FROM puts_of_managers('queue_use_figures')
    LEFT JOIN covered_of_qmgrs('wtas', 'qmst') USING (system, qmgr)
),
streams AS (
    SELECT
        system, qmgr,
        100 * coalesce(sum(messages_put) FILTER (queue GLOB getvariable('streaming')), 0)
            / nullif(sum(messages_put), 0) AS share
    FROM queue_use_figures
    GROUP BY ALL
),
adapters AS (
    SELECT system, qmgr, total(elapsed) / 1e4 / nullif(total(interval_seconds), 0) AS busy
    FROM chinit_task
    WHERE kind = 'adapter'
    GROUP BY ALL
)
SELECT
    system, qmgr,
    share, mb_per_second AS mb_s, pages_per_write AS pages, io_busy, l.task_busy AS busy,
    p.bytes / nullif(p.messages, 0) / 1024 AS message_kb,
    put_cpu / nullif(put_calls, 0) AS put_cost,
    p.messages / nullif(p.seconds, 0) AS puts_s,
    a.busy AS adapter_busy,
    pages_s, tasks, length AS interval, task_records, record_bytes, calls_a_second
FROM (FROM log_by_qmgr('inputs.qjst', 'inputs.qjst_io') WHERE task_busy > 0 AND io_busy > 0) AS l
FULL JOIN puts AS p USING (system, qmgr)
FULL JOIN streams USING (system, qmgr)
FULL JOIN adapters AS a USING (system, qmgr)
FULL JOIN accounting('inputs.wtas', 'inputs.wtid', 'inputs.record', 'task', 'inputs.qmst') USING (system, qmgr)
WHERE mb_s > 0 OR p.messages > 0
