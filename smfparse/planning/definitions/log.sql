-- The log: rate, I/O times of the slower copy for one page and for several pages, and log space.
WITH
logs AS (FROM log_by_qmgr('inputs.qjst', 'inputs.qjst_io')),
kinds AS (
    SELECT
        system, qmgr,
        unnest([
            {
                'one_page_us': io_1_1_average, 'more_pages': io_1_2_pages / nullif(io_1_2_count, 0),
                'more_pages_us': io_1_2_average
            },
            {
                'one_page_us': io_2_1_average, 'more_pages': io_2_2_pages / nullif(io_2_2_count, 0),
                'more_pages_us': io_2_2_average
            }
        ]) AS line
    FROM logs
),
slower AS (
    SELECT
        system, qmgr,
        arg_max(line, (line.one_page_us
            + (line.more_pages_us - line.one_page_us) / (line.more_pages - 1) * 127, line.more_pages)) AS line
    FROM kinds
    WHERE line.one_page_us > 0 AND line.more_pages_us > line.one_page_us AND line.more_pages > 1
    GROUP BY ALL
),
persistent AS (
    SELECT system, qmgr, total(persistent_puts) AS messages FROM message_manager_figures GROUP BY ALL
),
intervals AS (
    SELECT
        system, qmgr, interval_start, interval_seconds AS seconds, cis_created AS created, cis_offloaded AS archived
    FROM log_figures
    WHERE interval_seconds BETWEEN 1 AND 1e9
),
-- Sums over the intervals that begin within an hour, or 12 hours, minus a second: intervals do not begin exactly.
windows AS (
    SELECT
        system, qmgr, created, archived, seconds,
        sum(created) OVER an_hour AS created_hour, sum(seconds) OVER an_hour AS seconds_hour,
        sum(created) OVER half_day AS created_half_day, sum(seconds) OVER half_day AS seconds_half_day
    FROM intervals
    WINDOW an_hour AS (
        PARTITION BY system, qmgr ORDER BY interval_start
        RANGE BETWEEN CURRENT ROW AND INTERVAL '59 minutes 59 seconds' FOLLOWING
    ), half_day AS (
        PARTITION BY system, qmgr ORDER BY interval_start
        RANGE BETWEEN CURRENT ROW AND INTERVAL '11 hours 59 minutes 59 seconds' FOLLOWING
    )
),
-- In GB: 262144 control intervals. Only windows with at least 98% of their time in the data count.
space AS (
    SELECT
        system, qmgr,
        3600 * sum(created) / 262144 / sum(seconds) AS hourly_gb,
        3600 * max(created_hour / seconds_hour)
            FILTER (seconds_hour >= 0.98 * 3600) / 262144 AS hour_gb,
        43200 * max(created_half_day / seconds_half_day)
            FILTER (seconds_half_day >= 0.98 * 43200) / 262144 AS half_day_gb,
        greatest(sum(created) - sum(archived), 0) / 262144 AS unarchived_gb
    FROM windows
    GROUP BY ALL
),
puts AS (SELECT system, qmgr, bytes / nullif(messages, 0) / 1024 AS kb FROM puts_of_managers('queue_use_figures'))
SELECT
    system, qmgr, mb_per_second AS mb_s, pages_per_write AS pages, io_busy, task_busy AS busy, copies,
    line.one_page_us, line.more_pages, line.more_pages_us,
    1048576 * mb_used / nullif(messages, 0) AS bytes_each,
    kb AS message_kb,
    hourly_gb, hour_gb, half_day_gb, unarchived_gb
FROM logs
LEFT JOIN space USING (system, qmgr)
LEFT JOIN slower USING (system, qmgr)
LEFT JOIN persistent USING (system, qmgr)
LEFT JOIN puts USING (system, qmgr)
WHERE mb_s > 0 AND busy > 0 AND io_busy > 0
