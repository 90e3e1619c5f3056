-- A channel initiator in an interval, the CPU of all its tasks (QCT_*), and what channels carried (QCST).
WITH
tasks AS (
    SELECT system, qmgr, interval_start, qctcptm AS cpu, 0.0 AS tls_cpu FROM inputs.qct_dsp
    UNION ALL
    SELECT system, qmgr, interval_start, qctcptm, 0.0 FROM inputs.qct_adp
    UNION ALL
    SELECT system, qmgr, interval_start, qctcptm, qctcptm FROM inputs.qct_ssl
    UNION ALL
    SELECT system, qmgr, interval_start, qctcptm, 0.0 FROM inputs.qct_dns
),
used AS (
    SELECT system, qmgr, interval_start AS start, total(cpu) AS cpu, total(tls_cpu) AS tls_cpu
    FROM tasks
    GROUP BY ALL
),
channels AS (
    SELECT
        system, qmgr, interval_start AS start, qcstchnm, qcstchty = 7 AS is_client,
        sum(qcstnmsg)::DOUBLE AS messages, count(*) AS instances
    FROM inputs.qcst
    GROUP BY ALL
),
carried AS (
    SELECT
        system, qmgr, start, total(CASE WHEN is_client THEN messages END) AS client_calls,
        total(CASE WHEN NOT is_client THEN messages END) AS messages,
        arg_max(qcstchnm, (instances, qcstchnm)) FILTER (is_client) AS fullest,
        max(instances) FILTER (is_client) AS its_instances
    FROM channels
    GROUP BY ALL
)
SELECT
    rows.*, coalesce(cpu, 0) AS cpu, coalesce(tls_cpu, 0) AS tls_cpu,
    coalesce(client_calls, 0) AS client_calls, coalesce(messages, 0) AS messages,
    127.3 * coalesce(client_calls, 0) + 48.2 * coalesce(messages, 0) AS usual_cpu, fullest, its_instances
FROM rows
LEFT JOIN used USING (system, qmgr, start)
LEFT JOIN carried USING (system, qmgr, start)
