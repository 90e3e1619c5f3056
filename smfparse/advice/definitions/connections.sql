-- The connections of a channel in an interval, from class 3: tasks and what they did. One
-- counts where it ends, for its first record may begin after it did.
WITH
done AS (
    SELECT
        of_source, task_record,
        sum(messages_got)::DOUBLE AS got, sum(messages_put)::DOUBLE AS put, sum(opens)::DOUBLE AS opens
    FROM queue_use_figures
    GROUP BY ALL
)
SELECT
    placed.system, placed.qmgr, channel AS object, job, start, seconds,
    any_value(placed.utc_offset) AS utc_offset, any_value(placed.mq_version) AS mq_version,
    count(*) FILTER (has_ended) AS connects, count(*) FILTER (has_ended AND lived < seconds) AS brief,
    total(CASE WHEN has_ended AND lived < seconds THEN lived ELSE 0 END) AS brief_seconds,
    total(CASE WHEN has_ended THEN coalesce(done.got, 0) + coalesce(put, 0) ELSE 0 END) AS messages,
    total(coalesce(done.got, 0)) AS got, total(coalesce(done.opens, 0)) AS opens, total(tasks.ctls) AS ctls
FROM task_intervals('inputs.wtid', 'inputs.qmst') AS placed
JOIN task_figures AS tasks USING (input_no, source, record_no)
LEFT JOIN done USING (of_source, task_record)
WHERE is_channel
GROUP BY placed.system, placed.qmgr, channel, job, start, seconds
