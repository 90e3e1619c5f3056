-- What `compare` compares: sums a queue manager, name and interval. `kind` is the kind of row:
--   seconds    how long an interval was for rows of the kind `of_kind`; `calls` of calls and tasks, `tasks` what
--              the intervals of tasks cover
--   calls      API calls of a verb (WQST, WTAS) by job and queue, and queue managers' counts in them
--   task       tasks of a job (WTAS)
--   log        log manager (QJST)
--   pool       buffer pool (QPST); its number is in `part`
--   structure  coupling facility structure (QEST); its name is in `part`
--   messages   message manager (QMST)
--   channel    channel, all its instances (QCST); its name is in `part`
WITH
calls AS (
    SELECT * FROM calls_of_queues('side.wqst')
    UNION ALL BY NAME
    -- What whole tasks did is of no queue: where queues are selected it is not known whose it is.
    SELECT * FROM calls_of_tasks('side.wtas') WHERE NOT getvariable('of_queues')
),
-- Statistics record how long their intervals are, in each table.
spans AS (
    SELECT DISTINCT 'log' AS of_kind, qmgr, interval_start, interval_end
    FROM side.qjst WHERE qjstslptu IS NOT NULL
    UNION ALL
    SELECT DISTINCT 'pool', qmgr, interval_start, interval_end FROM side.qpst
    UNION ALL
    SELECT DISTINCT 'structure', qmgr, interval_start, interval_end FROM side.qest
    UNION ALL
    SELECT DISTINCT 'messages', qmgr, interval_start, interval_end FROM side.qmst
),
accounted AS (
    SELECT s.qmgr, s.interval_start, s.interval_end
    FROM spans AS s
    JOIN (
        SELECT qmgr, min(interval_end) AS earliest, max(interval_end) AS latest
        FROM side.wtas
        GROUP BY qmgr
    ) USING (qmgr)
    WHERE of_kind = 'messages'
        AND during_class_3(s.interval_start, s.interval_end, earliest, latest)
),
-- Tasks start and end within an interval, and some go on for hours before one is written: of a long
-- one counts what is around its middle. `alone` are those that end where there are no statistics.
around AS (
    SELECT
        t.qmgr, s.interval_end IS NULL OR s.interval_end < t.interval_end - near AS alone,
        bucket_of(t.interval_start, t.interval_end) AS bucket,
        (epoch_us(t.interval_start) + epoch_us(t.interval_end)) // 2 AS middle,
        least(middle - epoch_us(t.interval_start), getvariable('bucket_us')) AS half
    FROM (SELECT *, to_microseconds(getvariable('bucket_us')) AS near FROM side.wtas) AS t
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
        'calls' AS of_kind, qmgr, bucket_of(interval_start, interval_end) AS bucket,
        epoch_us(interval_start) AS began, epoch_us(interval_end) AS ended
    FROM accounted
    UNION ALL
    SELECT 'calls', qmgr, bucket, min(middle - half), max(middle + half)
    FROM around
    WHERE alone
    GROUP BY ALL
    UNION ALL
    SELECT
        'calls', t.qmgr, bucket_of(t.interval_start, t.interval_end),
        min(epoch_us(t.interval_start)), max(epoch_us(t.interval_end))
    FROM side.wtas AS t
    JOIN reach USING (qmgr)
    WHERE epoch_us(t.interval_end) - epoch_us(t.interval_start)
            BETWEEN 0.9 * getvariable('recorded_us') AND 1.1 * getvariable('recorded_us')
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
    SELECT DISTINCT
        'channel', qmgr, bucket_of(interval_start, interval_end),
        epoch_us(interval_start), epoch_us(interval_end)
    FROM side.qcst
    WHERE interval_start IS NOT NULL AND interval_end IS NOT NULL
)
SELECT
    'seconds' AS kind, of_kind, qmgr, bucket_of(interval_start, interval_end) AS bucket,
    sum(epoch_us(interval_end) - epoch_us(interval_start)) / 1e6 AS seconds
FROM spans
WHERE bucket IS NOT NULL
GROUP BY ALL
UNION ALL BY NAME
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
    'calls' AS kind, c.qmgr, job, queue, verb, bucket_of(interval_start, interval_end) AS bucket,
    sum(calls)::DOUBLE AS calls, total(elapsed) AS elapsed, total(cpu) AS cpu,
    sum(elapsed_of)::DOUBLE AS elapsed_of, sum(cpu_of)::DOUBLE AS cpu_of,
    total(log_wait) AS log_wait, total(page_set_wait) AS page_set_wait, total(suspended) AS suspended
FROM calls AS c
LEFT JOIN owners('side.wtid') USING (of_source, task_record)
GROUP BY ALL
UNION ALL BY NAME
SELECT
    'task' AS kind, t.qmgr, job, bucket_of(interval_start, interval_end) AS bucket,
    sum(wtasgpo)::DOUBLE AS pages_old, sum(wtasgpn)::DOUBLE AS pages_new,
    sum(wtasjwb)::DOUBLE AS log_bytes, sum(timed(wtasjcn, wtasjcet))::DOUBLE AS log_forces,
    total(wtasjcet) AS log_force_elapsed
FROM of_tasks('side.wtas') AS t
LEFT JOIN owners('side.wtid') USING (of_source, task_record)
WHERE NOT getvariable('of_queues')
GROUP BY ALL
UNION ALL BY NAME
SELECT
    'log' AS kind, qmgr, bucket_of(interval_start, interval_end) AS bucket,
    sum(copy_pages)::DOUBLE AS log_pages, sum(pages)::DOUBLE AS all_log_pages,
    sum(ios)::DOUBLE AS log_ios, total(copy_suspended) AS log_io_busy
FROM log_rows('side.qjst', 'side.qjst_io')
GROUP BY ALL
UNION ALL BY NAME
SELECT
    'pool' AS kind, qmgr, qpstpool::VARCHAR AS part,
    bucket_of(interval_start, interval_end) AS bucket,
    sum(qpstgetp)::DOUBLE AS gets, sum(qpstrio)::DOUBLE AS reads, sum(qpstwio)::DOUBLE AS writes,
    sum(qpsttpw)::DOUBLE AS pages_written, sum(qpstnbuf::BIGINT - qpstcbsl)::DOUBLE AS used,
    sum(qpstnbuf)::DOUBLE AS buffers
FROM side.qpst
GROUP BY ALL
UNION ALL BY NAME
SELECT
    'structure' AS kind, qmgr, qeststr AS part, bucket_of(interval_start, interval_end) AS bucket,
    sum(qestcsec)::DOUBLE AS singles, total(qestsstc) AS single_elapsed,
    sum(qestcmec)::DOUBLE AS multiples, total(qestmstc) AS multiple_elapsed
FROM side.qest
GROUP BY ALL
UNION ALL BY NAME
SELECT
    'messages' AS kind, qmgr, bucket_of(interval_start, interval_end) AS bucket,
    sum(puts)::DOUBLE AS puts, sum(qmstget)::DOUBLE AS gets, sum(qmstopen)::DOUBLE AS opens
FROM message_manager_rows('side.qmst')
GROUP BY ALL
UNION ALL BY NAME
SELECT
    'channel' AS kind, qmgr, qcstchnm AS part, bucket_of(interval_start, interval_end) AS bucket,
    sum(qcstnmsg)::DOUBLE AS channel_messages, sum(qcstnbyt)::DOUBLE AS channel_bytes,
    total(network_time_amount) AS network,
    sum(CASE WHEN network_time_amount IS NOT NULL THEN network_time_per END)::DOUBLE AS batches
FROM channel_rows('side.qcst')
GROUP BY ALL
