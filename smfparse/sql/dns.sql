-- DNS: a row a section and DNS task of the channel initiator (QCT_DNS), and one for all of them.
WITH
tasks AS (
    SELECT
        section, block_no - 1 AS number, sum(interval_seconds) AS interval_seconds,
        sum(qctreqn)::UBIGINT AS requests, sum(qcteltm) AS busy_us, sum(qctcptm) AS cpu_us,
        sum(qctwttm) AS waiting_us, max(qctlgdu) AS longest,
        arg_max(qctlgtm, qctlgdu) AS longest_at
    FROM sectioned.qct_dns
    GROUP BY section, number
),
rows AS (
    SELECT *, number::VARCHAR AS task FROM tasks
    UNION ALL BY NAME
    SELECT
        section, sum(interval_seconds) AS interval_seconds, sum(requests)::UBIGINT AS requests,
        sum(busy_us) AS busy_us, sum(cpu_us) AS cpu_us, sum(waiting_us) AS waiting_us,
        max(longest) AS longest, arg_max(longest_at, longest) AS longest_at, 'Summ' AS task
    FROM tasks
    GROUP BY section
)
SELECT
    section, CASE WHEN number IS NULL THEN 'summary' ELSE 'task' END AS line, number, task, 'DNS' AS type, requests,
    100 * busy_us / nullif(interval_seconds * 1e6, 0) AS busy,
    cpu_us / 1e6 AS cpu_seconds,
    100 * cpu_us / nullif(interval_seconds * 1e6, 0) AS cpu_busy,
    CASE WHEN requests = 0 THEN 0 ELSE cpu_us / requests END AS cpu_average,
    cpu_average AS cpu_tenths,
    CASE WHEN requests = 0 THEN 0 ELSE busy_us / requests END AS elapsed_average,
    waiting_us / 1e6 AS waiting_seconds,
    longest, longest_at
FROM rows
