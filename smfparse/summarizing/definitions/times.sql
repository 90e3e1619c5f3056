-- The lengths of the recorded intervals of a side, for tasks and queue managers, and the time span of the side.
-- Words in braces are placeholders.
WITH recorded AS (
    SELECT
        CASE WHEN ended IS NULL THEN interval_seconds END AS interval_seconds, interval_start, interval_end, utc_offset,
        true AS of_task
    FROM task_facts('{side}.wtas')
    UNION ALL
    SELECT interval_seconds, interval_start, interval_end, utc_offset, false
    FROM {side}.qmst
),
usual AS (SELECT median(interval_seconds) AS length FROM recorded GROUP BY of_task)
SELECT
    (SELECT max(length) FROM usual) AS length,
    (SELECT min(length) FROM usual) AS shortest,
    min(interval_start) FILTER (
        interval_seconds / (SELECT max(length) FROM usual) BETWEEN 0.9 AND 1.1
    ) AS first,
    least(
        min(local_time(interval_start, utc_offset)) FILTER (
            NOT of_task OR (SELECT bool_and(of_task) FROM recorded)
        ),
        min(local_time(interval_end, utc_offset))
    ) AS began,
    max(local_time(interval_end, utc_offset)) AS ended,
    arg_max(utc_offset, interval_end) AS utc_offset,
    count_if(of_task AND local_time(interval_start, utc_offset) < {split_at}) AS spanning
FROM recorded
