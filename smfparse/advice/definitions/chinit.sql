-- A channel initiator in an interval, with the CPU of all its tasks and the messages of its channels.
WITH
used AS (
    SELECT system, qmgr, interval_start AS start, total(cpu) AS cpu, total(CASE WHEN is_tls THEN cpu END) AS tls_cpu
    FROM (
        FROM dispatcher_figures UNION ALL BY NAME FROM adapter_figures UNION ALL BY NAME FROM dns_task_figures
        UNION ALL BY NAME SELECT *, TRUE AS is_tls FROM tls_task_figures
    )
    GROUP BY ALL
),
channels AS (
    SELECT
        system, qmgr, interval_start AS start, channel, is_client,
        sum(messages)::DOUBLE AS messages, count(*) AS instances
    FROM channel_figures
    GROUP BY ALL
),
carried AS (
    SELECT
        system, qmgr, start, total(CASE WHEN is_client THEN messages END) AS client_calls,
        total(CASE WHEN NOT is_client THEN messages END) AS messages,
        arg_max(channel, (instances, channel)) FILTER (is_client) AS fullest,
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
