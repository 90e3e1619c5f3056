-- The connections of a channel in an interval, from class 3: tasks and what they did. One
-- counts where it ends, for its first record may begin after it did.
WITH
done AS (
    SELECT
        of_source, task_record,
        sum(messages_got)::DOUBLE AS got, sum(messages_put)::DOUBLE AS put, sum(opens)::DOUBLE AS opens
    FROM queue_use_figures
    GROUP BY ALL
),
tasks AS (
    SELECT
        placed.*, has_ended, ctls, lived, got, opens, coalesce(got, 0) + coalesce(put, 0) AS moved,
        has_ended AND lived < seconds AS is_brief
    FROM task_intervals('inputs.wtid', 'inputs.qmst') AS placed
    JOIN task_figures USING (input_no, source, record_no)
    LEFT JOIN done USING (of_source, task_record)
    WHERE is_channel
)
SELECT
    system, qmgr, channel AS object, job, start, seconds,
    any_value(utc_offset) AS utc_offset, any_value(mq_version) AS mq_version,
    count(*) FILTER (has_ended) AS connects, count(*) FILTER (is_brief) AS brief,
    total(CASE WHEN is_brief THEN lived ELSE 0 END) AS brief_seconds,
    total(CASE WHEN has_ended THEN moved ELSE 0 END) AS messages,
    total(coalesce(got, 0)) AS got, total(coalesce(opens, 0)) AS opens, total(ctls) AS ctls
FROM tasks
GROUP BY system, qmgr, channel, job, start, seconds
