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

-- Puts to queues, by queue manager: messages, bytes, CPU (microseconds) and persistent messages.
CREATE OR REPLACE MACRO puts_of_managers(queues) AS TABLE
SELECT
    system, qmgr,
    sum(validput)::BIGINT AS messages,
    sum(putbytes)::DOUBLE AS bytes,
    sum(putn::BIGINT + put1n)::BIGINT AS calls,
    total(putct + put1ct) AS cpu,
    sum(putpmsg::BIGINT + put1pmsg)::BIGINT AS persistent
FROM query_table(queues)
GROUP BY ALL;

-- Accounting class 3, by queue manager: API calls and new pages a second, tasks that write records each interval, how
-- long this is, and bytes of a record.
CREATE OR REPLACE MACRO accounting(task_rows, record_rows, task_view, statistics) AS TABLE
WITH
calls AS (
    SELECT system, qmgr, sum(calls)::BIGINT AS calls FROM query_table(task_view) GROUP BY ALL
),
tasks AS (
    SELECT
        system, qmgr, median(interval_seconds) AS length, count(*) AS records,
        sum(wtasgpn)::BIGINT AS pages
    FROM query_table(task_rows)
    GROUP BY ALL
),
bytes AS (
    SELECT system, qmgr, sum(length)::BIGINT AS bytes
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
