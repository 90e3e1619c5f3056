-- The connections of a channel in an interval, from the tasks in class 3. A task is counted in the interval in which it
-- ends, with all its messages, because its first record can begin after the task. A client can have several tasks, of
-- which only one uses queues. So `connects` is the number of channel instances that ended, from channel statistics, or
-- the number of tasks if it is smaller or there are no such statistics.
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
        placed.*, has_ended, lived, ctls, coalesce(done.got, 0) AS got, coalesce(done.opens, 0) AS opens,
        sum(coalesce(done.got, 0) + coalesce(put, 0)) OVER (
            PARTITION BY placed.system, placed.qmgr, figures.object  -- the task
        ) AS messages
    FROM task_intervals('inputs.wtid', 'inputs.qmst') AS placed
    JOIN task_figures AS figures USING (input_no, source, record_no)
    LEFT JOIN done USING (of_source, task_record)
    WHERE is_channel
),
clients AS (
    SELECT
        system, qmgr, channel AS object, job, start, seconds,
        any_value(utc_offset) AS utc_offset, any_value(mq_version) AS mq_version,
        count(*) FILTER (has_ended) AS tasks, count(*) FILTER (has_ended AND lived < seconds) AS brief,
        total(CASE WHEN has_ended AND lived < seconds THEN lived ELSE 0 END) AS brief_seconds,
        total(CASE WHEN has_ended THEN messages ELSE 0 END) AS messages,
        total(got) AS got, total(opens) AS opens, total(ctls) AS ctls
    FROM tasks
    GROUP BY system, qmgr, channel, job, start, seconds
),
stopped_ones AS (
    SELECT
        system, qmgr, channel AS object,
        interval_start + to_microseconds((5e5 * coalesce(interval_seconds, 0))::BIGINT) AS middle, count(*) AS stopped
    FROM channel_figures
    WHERE stopped IS NOT NULL
    GROUP BY ALL
)
SELECT
    *, coalesce(least(instances, tasks), tasks) AS connects,
    CASE WHEN instances IS NULL THEN 'class 3 tasks' ELSE 'channel instances' END AS counted
FROM (
    SELECT clients.*, sum(stopped)::DOUBLE AS instances
    FROM clients
    LEFT JOIN stopped_ones
        ON stopped_ones.system = clients.system AND stopped_ones.qmgr = clients.qmgr
        AND stopped_ones.object = clients.object
        AND middle >= start AND middle < start + to_microseconds((1e6 * seconds)::BIGINT)
    GROUP BY ALL
)
