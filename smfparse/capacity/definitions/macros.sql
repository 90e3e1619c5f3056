-- When rows are, in microseconds since 1970, and of which queue manager; not of damaged rows, beyond thirty years.
CREATE OR REPLACE MACRO recorded_spans(found) AS TABLE
SELECT
    {'system': system, 'qmgr': qmgr} AS alike, epoch_us(interval_start) AS began,
    began + round(1e6 * interval_seconds)::BIGINT AS ended
FROM query_table(found)
WHERE interval_seconds BETWEEN 0 AND 1e9;

-- The seconds that all rows of accounting cover, by queue manager: see covered_time.
CREATE OR REPLACE MACRO covered_of_qmgrs(tasks, statistics) AS TABLE
WITH
spans_of_tasks AS (FROM recorded_spans(tasks)),
spans_of_statistics AS (FROM recorded_spans(statistics))
SELECT alike.system AS system, alike.qmgr AS qmgr, seconds
FROM covered_time('spans_of_tasks', 'spans_of_statistics');

-- Puts to queues, by queue manager: messages, bytes, calls and their CPU (microseconds). `uses` names rows of
-- what tasks did on queues.
CREATE OR REPLACE MACRO puts_of_managers(uses) AS TABLE
SELECT
    system, qmgr,
    total(messages_put) AS messages,
    sum(bytes_put)::DOUBLE AS bytes,
    total(puts + put1s) AS put_calls,
    total(put_cpu + put1_cpu) AS put_cpu
FROM query_table(uses)
GROUP BY ALL;

-- Accounting class 3, by queue manager: API calls and new pages a second, tasks that write records each interval, how
-- long this is, and bytes of a record.
CREATE OR REPLACE MACRO accounting(task_rows, record_rows, task_view, statistics) AS TABLE
WITH
calls AS (
    SELECT
        system, qmgr, total(calls) AS calls,
        -- New pages are of whole tasks: where queues are selected it is not known which are for these.
        CASE WHEN NOT getvariable('of_queues') THEN total(pages_new) END AS pages
    FROM query_table(task_view)
    GROUP BY ALL
),
tasks AS (
    SELECT
        system, qmgr, median(interval_seconds) AS length, count(*) AS records
    FROM query_table(task_rows)
    GROUP BY ALL
),
bytes AS (
    SELECT system, qmgr, total(length) AS bytes
    FROM query_table(record_rows)
    WHERE type = 116 AND subtype IN (1, 2)
    GROUP BY ALL
)
SELECT
    system, qmgr, length,
    calls / nullif(seconds, 0) AS calls_a_second,
    pages / nullif(seconds, 0) AS pages_s,
    round(records * length / nullif(seconds, 0))::BIGINT AS tasks,
    bytes / nullif(records, 0) AS record_bytes
FROM tasks
FULL JOIN calls USING (system, qmgr)
FULL JOIN bytes USING (system, qmgr)
LEFT JOIN covered_of_qmgrs(task_rows, statistics) USING (system, qmgr);
