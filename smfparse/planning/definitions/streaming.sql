-- Puts to queues that do not stream yet, and the log rate of these puts, in proportion to persistent bytes. A streamed
-- put is logged twice.
WITH
uses AS (
    SELECT *, coalesce(max(streamed) OVER (PARTITION BY system, qmgr, queue), 0) > 0 AS is_streamed
    FROM queue_use_figures
),
to_stream AS (FROM uses WHERE NOT is_streamed),
logged AS (
    SELECT
        system, qmgr,
        total(CASE WHEN NOT is_streamed THEN persistent_bytes END)
            / greatest(total(persistent_bytes * (1 + coalesce(streamed / nullif(messages_put, 0), 0))), 1) AS share
    FROM uses
    GROUP BY ALL
)
SELECT
    system, qmgr,
    bytes / nullif(messages, 0) / 1024 AS message_kb,
    put_cpu / nullif(put_calls, 0) AS put_cost,
    messages / nullif(seconds, 0) AS puts_s,
    mb_per_second * share AS log_mb_s
FROM puts_of_managers('to_stream')
JOIN logged USING (system, qmgr)
LEFT JOIN covered_of_qmgrs('wqst', 'qmst') USING (system, qmgr)
LEFT JOIN log_by_qmgr('inputs.qjst', 'inputs.qjst_io') USING (system, qmgr)
WHERE messages > 0
