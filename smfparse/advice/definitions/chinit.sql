-- A channel initiator in an interval: QCCT, the CPU of all its tasks (QCT_*), and what channels carried (QCST).
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
    SELECT system, qmgr, interval_start, total(cpu) AS cpu, total(tls_cpu) AS tls_cpu
    FROM tasks
    GROUP BY ALL
),
carried AS (
    SELECT
        system, qmgr, interval_start,
        sum(CASE WHEN qcstchty = 7 THEN qcstnmsg ELSE 0 END)::DOUBLE AS client_calls,
        sum(CASE WHEN qcstchty <> 7 THEN qcstnmsg ELSE 0 END)::DOUBLE AS messages
    FROM inputs.qcst
    GROUP BY ALL
),
clients AS (
    SELECT system, qmgr, interval_start, qcstchnm AS channel, count(*) AS instances
    FROM inputs.qcst
    WHERE qcstchty = 7
    GROUP BY ALL
),
fullest AS (
    SELECT system, qmgr, interval_start, arg_max(channel, (instances, channel)) AS fullest, max(instances) AS its_instances
    FROM clients
    GROUP BY ALL
)
SELECT
    system, qmgr, '' AS object, '' AS job, interval_start AS start, interval_seconds AS seconds,
    utc_offset, mq_version,
    qcctnoac::DOUBLE AS active, qcctmxac::DOUBLE AS active_limit,
    qcctnocc::DOUBLE AS current, qcctmxcc::DOUBLE AS current_limit, qcctstus::DOUBLE AS used_mb,
    coalesce(cpu, 0) AS cpu, coalesce(tls_cpu, 0) AS tls_cpu,
    coalesce(client_calls, 0) AS client_calls, coalesce(messages, 0) AS messages,
    127.3 * coalesce(client_calls, 0) + 48.2 * coalesce(messages, 0) AS usual_cpu, fullest, its_instances
FROM inputs.qcct
LEFT JOIN used USING (system, qmgr, interval_start)
LEFT JOIN carried USING (system, qmgr, interval_start)
LEFT JOIN fullest USING (system, qmgr, interval_start)
