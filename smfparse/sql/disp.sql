-- DISP: a row a section and dispatcher task of the channel initiator (QCT_DSP), and one for all of them;
-- each once more, for the lines that say how many channels it has.
WITH
tasks AS (
    SELECT
        section, block_no - 1 AS number, interval_seconds,
        qctreqn AS requests, qcteltm AS busy_us, qctcptm AS cpu_us, qctwttm AS waiting_us,
        qctchln AS channels
    FROM grouped.qct_dsp
),
rows AS (
    SELECT *, number::VARCHAR AS task FROM tasks
    UNION ALL BY NAME
    SELECT
        section, sum(interval_seconds) AS interval_seconds, sum(requests)::UBIGINT AS requests,
        sum(busy_us) AS busy_us, sum(cpu_us) AS cpu_us, sum(waiting_us) AS waiting_us,
        sum(channels)::UBIGINT AS channels, 'Summ' AS task
    FROM tasks
    GROUP BY section
)
SELECT
    section,
    CASE WHEN lines.line = 'task' AND number IS NULL THEN 'summary' ELSE lines.line END AS line,
    number, task, 'DISP' AS type, requests,
    100 * busy_us / nullif(interval_seconds * 1e6, 0) AS busy,
    cpu_us / 1e6 AS cpu_seconds,
    100 * cpu_us / nullif(interval_seconds * 1e6, 0) AS cpu_busy,
    CASE WHEN requests = 0 THEN 0 ELSE cpu_us / requests END AS cpu_average,
    cpu_average AS cpu_tenths,
    CASE WHEN requests = 0 THEN 0 ELSE busy_us / requests END AS elapsed_average,
    waiting_us / 1e6 AS waiting_seconds,
    channels,
    CASE WHEN number IS NULL THEN 'all TCBs' ELSE 'this TCB' END AS tcbs
FROM rows, (VALUES ('task'), ('channels')) AS lines (line)
