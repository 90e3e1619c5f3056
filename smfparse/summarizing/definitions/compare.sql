-- What `compare` compares: sums a queue manager, name and interval. `kind` is the kind of row:
--   seconds  how long an interval was for rows of the kind `of_kind`; `calls` of calls and tasks, `tasks` what the
--            intervals of tasks cover
--   calls    API calls of a verb (WQST, WTAS) by job and queue, and queue managers' counts in them
--   task     tasks of a job (WTAS)
--   others   subjects of statistics, by their objects, whose names are in `part`: measures.toml has them
-- Words in braces are filled in: `side` is the schema of its tables.
WITH
calls AS (
    SELECT * FROM calls_of_queues('{side}.wqst')
    UNION ALL BY NAME
    -- What whole tasks did is of no queue: where queues are selected it is not known whose it is.
    SELECT * FROM calls_of_tasks('{side}.wtas') WHERE NOT getvariable('of_queues')
),
-- Statistics record how long their intervals are, in each table.
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
-- Tasks start and end within an interval, and some go on for hours before one is written: of a long
-- one counts what is around its middle. `alone` are those that end where there are no statistics.
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
-- What calls are divided by, and what tasks cover. Where class 3 is written for longer intervals than statistics are,
-- its first and last interval go beyond the statistics: all of their time counts, as all of their calls do.
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
