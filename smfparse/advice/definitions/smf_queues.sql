-- The statistics of a queue manager by release and day: how many records it wrote, and how many of them are of queues.
-- An interval counts on the day that has its middle. A day without messages has no statistics of queues either.
WITH
written AS (
    SELECT
        system, qmgr, mq_version, counted_at::DATE AS day, min(interval_start) AS start,
        total(interval_seconds) AS seconds, any_value(utc_offset) AS utc_offset,
        count(*)::DOUBLE AS statistics
    FROM inputs.record
    WHERE qmgr <> '' AND type = 115 AND subtype = 2 AND interval_start IS NOT NULL
    GROUP BY ALL
),
queues AS (
    SELECT system, qmgr, mq_version, counted_at::DATE AS day, count(*)::DOUBLE AS queue_statistics
    FROM inputs.record
    WHERE type = 115 AND subtype = 216
    GROUP BY ALL
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
    statistics, coalesce(queue_statistics, 0) AS queue_statistics, coalesce(calls, 0) AS calls
FROM written
LEFT JOIN queues USING (system, qmgr, mq_version, day)
LEFT JOIN messages USING (system, qmgr, mq_version, day)
