-- The sums of one side of `compare`, by queue manager, name and interval. `kind` is the kind of row:
--   seconds  recorded seconds of an interval, for rows of the kind `of_kind`: `calls` for calls and tasks; `tasks`: the
--            seconds that tasks cover
--   calls    API calls of a verb (WQST, WTAS) by job and queue, with their log, page set and suspend times
--   task     tasks of a job (WTAS)
--   others   statistics subjects by object, whose name is in `part`: figures are declared in compare.toml
-- Words in braces are placeholders: `side` is the schema with the tables of the side.
WITH
calls AS (
    SELECT * FROM calls_of_queues('{side}.wqst')
    UNION ALL BY NAME
    -- Calls without a queue are omitted if queues are selected, because they may belong to other queues.
    SELECT * FROM calls_of_tasks('{side}.wtas') WHERE NOT getvariable('of_queues')
),
-- Intervals of statistics, by kind of row.
spans AS ({spans}),
accounted AS (
    SELECT s.qmgr, s.interval_start, s.interval_end
    FROM spans AS s
    JOIN (
        SELECT qmgr, min(interval_end) AS earliest, max(interval_end) AS latest
        FROM {side}.wtas
        GROUP BY qmgr
    ) USING (qmgr)
    WHERE of_kind = 'message_manager'
        AND during_class_3(s.interval_start, s.interval_end, earliest, latest)
),
-- Task records can cover a part of an interval, or hours. Of a long record, only the time around its middle counts.
-- `alone`: the record ends outside the intervals of statistics.
around AS (
    SELECT
        t.qmgr, s.interval_end IS NULL OR s.interval_end < t.interval_end - near AS alone,
        {side}.bucket_of(t.interval_start, t.interval_end) AS bucket,
        (epoch_us(t.interval_start) + epoch_us(t.interval_end)) // 2 AS middle,
        least(middle - epoch_us(t.interval_start), {bucket_us}) AS half
    FROM (SELECT *, to_microseconds({bucket_us}) AS near FROM {side}.wtas) AS t
    ASOF LEFT JOIN accounted AS s
        ON t.qmgr = s.qmgr AND t.interval_end + t.near >= s.interval_start
    WHERE bucket IS NOT NULL
),
reach AS (
    SELECT qmgr, min(interval_start) AS earliest_start, max(interval_end) AS latest_end
    FROM accounted
    GROUP BY qmgr
),
-- The divisors of calls, and the time that tasks cover. If class 3 intervals are longer than those of statistics, the
-- first and last one extend beyond the statistics. Their whole time counts, because all their calls count.
covered AS (
    SELECT
        'calls' AS of_kind, qmgr, {side}.bucket_of(interval_start, interval_end) AS bucket,
        epoch_us(interval_start) AS began, epoch_us(interval_end) AS ended
    FROM accounted
    UNION ALL
    SELECT 'calls', qmgr, bucket, min(middle - half), max(middle + half)
    FROM around
    WHERE alone
    GROUP BY ALL
    UNION ALL
    SELECT
        'calls', t.qmgr, {side}.bucket_of(t.interval_start, t.interval_end),
        min(epoch_us(t.interval_start)), max(epoch_us(t.interval_end))
    FROM {side}.wtas AS t
    JOIN reach USING (qmgr)
    WHERE epoch_us(t.interval_end) - epoch_us(t.interval_start)
            BETWEEN 0.9 * {recorded_us} AND 1.1 * {recorded_us}
        AND (
            t.interval_start < earliest_start - INTERVAL 1 SECOND
            OR t.interval_end > latest_end + INTERVAL 1 SECOND
        )
    GROUP BY ALL
    UNION ALL
    SELECT 'tasks', qmgr, bucket, min(middle - half), max(middle + half)
    FROM around
    GROUP BY ALL
    UNION ALL
    SELECT
        of_kind, qmgr, {side}.bucket_of(interval_start, interval_end), epoch_us(interval_start), epoch_us(interval_end)
    FROM spans
    WHERE interval_start IS NOT NULL AND interval_end IS NOT NULL
)
SELECT 'seconds' AS kind, of_kind, qmgr, bucket, sum(new_us) / 1e6 AS seconds
FROM (
    SELECT
        *,
        greatest(0, ended - greatest(began, coalesce(max(ended) OVER earlier, began))) AS new_us
    FROM covered
    WINDOW
        earlier AS (
            PARTITION BY of_kind, qmgr ORDER BY began, ended
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        )
)
GROUP BY ALL
UNION ALL BY NAME
SELECT
    'calls' AS kind, c.qmgr, job, queue, verb, {side}.bucket_of(interval_start, interval_end) AS bucket,
    sum(calls)::DOUBLE AS calls, total(elapsed) AS elapsed, total(cpu) AS cpu,
    sum(elapsed_of)::DOUBLE AS elapsed_of, sum(cpu_of)::DOUBLE AS cpu_of,
    total(log_wait) AS log_wait, total(page_set_wait) AS page_set_wait, total(suspended) AS suspended
FROM calls AS c
LEFT JOIN owners('{side}.wtid') USING (of_source, task_record)
GROUP BY ALL
UNION ALL BY NAME
{sums}
