-- Puts, and the log.
SELECT
    system, qmgr,
    bytes / nullif(messages, 0) / 1024 AS message_kb,
    put_cpu / nullif(put_calls, 0) AS put_cost,
    messages / nullif(seconds, 0) AS puts_s,
    mb_per_second AS log_mb_s
FROM puts_of_managers('queue_use_figures')
LEFT JOIN covered_of_qmgrs('wqst', 'qmst') USING (system, qmgr)
FULL JOIN log_by_qmgr('inputs.qjst', 'inputs.qjst_io') USING (system, qmgr)
WHERE messages > 0
