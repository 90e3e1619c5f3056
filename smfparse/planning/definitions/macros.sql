-- Start and end of rows (microseconds since 1970), by queue manager; without damaged rows: negative or beyond 30 years.
CREATE OR REPLACE MACRO recorded_spans(found) AS TABLE
SELECT
    {'system': system, 'qmgr': qmgr} AS alike, epoch_us(interval_start) AS began,
    began + round(1e6 * interval_seconds)::BIGINT AS ended
FROM query_table(found)
WHERE interval_seconds BETWEEN 0 AND 1e9;

-- Seconds that accounting of tasks covers, by queue manager: see covered_time.
CREATE OR REPLACE MACRO covered_of_qmgrs(tasks, statistics) AS TABLE
WITH
spans_of_tasks AS (
    SELECT
        {'system': system, 'qmgr': qmgr} AS alike,
        unnest(task_span(
            interval_start, interval_start + to_microseconds(round(1e6 * interval_seconds)::BIGINT), task_started_tod
        ))
    FROM query_table(tasks)
    WHERE interval_seconds BETWEEN 0 AND 1e9
),
spans_of_statistics AS (FROM recorded_spans(statistics))
SELECT alike.system AS system, alike.qmgr AS qmgr, seconds
FROM covered_time('spans_of_tasks', 'spans_of_statistics');

-- Seconds that accounting of channels covers, by queue manager.
CREATE OR REPLACE MACRO covered_of_channels(channels, statistics) AS TABLE
WITH
spans_of_channels AS (SELECT *, FALSE AS is_whole FROM recorded_spans(channels)),
spans_of_statistics AS (FROM recorded_spans(statistics))
SELECT alike.system AS system, alike.qmgr AS qmgr, seconds
FROM covered_time('spans_of_channels', 'spans_of_statistics');

-- Puts to queues, by queue manager: messages, bytes, calls, and CPU of the calls (microseconds). `uses` is the name of
-- rows per task and queue.
CREATE OR REPLACE MACRO puts_of_managers(uses) AS TABLE
SELECT
    system, qmgr,
    total(messages_put) AS messages,
    sum(bytes_put)::DOUBLE AS bytes,
    total(puts + put1s) AS put_calls,
    total(put_cpu + put1_cpu) AS put_cpu
FROM query_table(uses)
GROUP BY ALL;

-- Accounting class 3, by queue manager: API calls and new pages per second; for tasks that live longer than one record
-- (see lives_of_tasks): number of tasks, interval of their records (seconds), records per task and interval, and bytes
-- per record.
CREATE OR REPLACE MACRO accounting(task_rows, identities, record_rows, task_view, statistics) AS TABLE
WITH
calls AS (
    SELECT
        system, qmgr, total(calls) AS calls,
        -- New pages are counted per task, not per queue: they are NULL if queues are selected.
        CASE WHEN NOT getvariable('of_queues') THEN total(pages_new) END AS pages
    FROM query_table(task_view)
    GROUP BY ALL
),
lives AS (FROM lives_of_tasks(task_rows)),
tasks AS (
    SELECT
        system, qmgr, count(*) FILTER (NOT short_lived) AS records,
        median(interval_seconds) FILTER (NOT short_lived AND NOT ended) AS of_lasting,
        median(interval_seconds) FILTER (NOT short_lived) AS of_long
    FROM of_tasks(task_rows)
    JOIN lives USING (of_source, task_record)
    WHERE block_no = 1
    GROUP BY ALL
),
bytes AS (
    SELECT record.system, record.qmgr, total(record.length) AS bytes, count(*) AS all_records
    FROM query_table(record_rows) AS record
    JOIN identity_facts(identities) AS identity USING (input_no, source, record_no)
    JOIN lives USING (of_source, task_record)
    WHERE identity.block_no = 1 AND NOT short_lived
    GROUP BY ALL
)
SELECT
    system, qmgr, coalesce(of_lasting, of_long) AS length,
    calls / nullif(seconds, 0) AS calls_a_second,
    pages / nullif(seconds, 0) AS pages_s,
    coalesce(records * length / nullif(seconds, 0), 0) AS tasks,
    all_records / nullif(records, 0) AS task_records, bytes / nullif(all_records, 0) AS record_bytes
FROM tasks
FULL JOIN calls USING (system, qmgr)
FULL JOIN bytes USING (system, qmgr)
LEFT JOIN covered_of_qmgrs(task_rows, statistics) USING (system, qmgr);
