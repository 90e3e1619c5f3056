-- The numbers of statistics records and of queue statistics records of a queue manager, by release and day. An interval
-- belongs to the day that contains its middle. `calls`: without MQGET and MQPUT, MQ writes no queue statistics.
WITH
written AS (
    SELECT
        system, qmgr, mq_version, counted_at::DATE AS day, any_value(utc_offset) AS utc_offset,
        min(interval_start) FILTER (subtype = 2) AS start,
        total(CASE WHEN subtype = 2 THEN interval_seconds END) AS seconds,
        count(CASE WHEN subtype = 2 THEN interval_start END)::DOUBLE AS statistics,
        count_if(subtype = 216)::DOUBLE AS queue_statistics
    FROM inputs.record
    WHERE qmgr <> '' AND type = 115 AND subtype IN (2, 216)
    GROUP BY ALL
    HAVING statistics > 0
),
messages AS (
    SELECT
        system, qmgr, mq_version, counted_at::DATE AS day,
        sum(gets::DOUBLE + puts) AS calls
    FROM message_manager_figures
    GROUP BY ALL
)
SELECT
    system, qmgr, '' AS object, '' AS job, start, seconds, utc_offset, mq_version,
    release_of(mq_version) AS release,
    statistics, queue_statistics, coalesce(calls, 0) AS calls
FROM written
LEFT JOIN messages USING (system, qmgr, mq_version, day)
