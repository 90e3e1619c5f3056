-- Puts (WQST), and the log (QJST).
SELECT
    system, qmgr,
    bytes / nullif(messages, 0) / 1024 AS message_kb,
    cpu / nullif(calls, 0) AS put_cost,
    messages / nullif(seconds, 0) AS puts_s,
    mb_per_second AS log_mb_s
FROM puts_of_managers('wqst')
LEFT JOIN covered_of_qmgrs('wqst', 'qmst') USING (system, qmgr)
FULL JOIN log_by_qmgr('inputs.qjst', 'inputs.qjst_io') USING (system, qmgr)
WHERE messages > 0
ORDER BY system, qmgr
