-- Messages of a queue manager in an interval: the calls of applications, the gets and puts that they caused (QIST),
-- publications, and the gets in class 3. Only class 3 counts the gets of callbacks.
WITH
of_tasks AS (
    SELECT
        placed.system, placed.qmgr, start, sum(gets)::BIGINT AS gets_of_tasks,
        sum(generated_messages)::BIGINT AS generated
    FROM queue_use_figures
    JOIN task_intervals('inputs.wtid', 'inputs.qist') AS placed USING (input_no, source, record_no)
    WHERE is_inside
    GROUP BY ALL
),
topics AS (
    SELECT
        system, qmgr, interval_start AS start, max(publishes) AS publishes, max(unread) AS unread,
        max(publish_elapsed) AS publish_us, max(longest_publish) AS longest_us,
        max(messages_to_subscribers) AS messages_to_subscribers, max(most_subscribers) AS subscribers,
        max(expired) AS expired
    FROM topic_figures
    GROUP BY ALL
),
locks AS (
    SELECT system, qmgr, interval_start AS start, max(gets) AS locks, max(held) AS held
    FROM lock_figures
    GROUP BY ALL
),
calls AS (
    SELECT system, qmgr, interval_start AS start, gets, puts, spans::DOUBLE AS spans, spans_lost
    FROM message_manager_figures
)
SELECT
    rows.* EXCLUDE (gets, puts),
    calls.gets, rows.gets AS searched, gets_of_tasks,
    greatest(calls.gets, coalesce(gets_of_tasks, 0)) AS known_gets,
    calls.puts, rows.puts AS stored, generated,
    publishes, unread, publish_us, longest_us, messages_to_subscribers, subscribers, expired,
    locks, held,
    median(held / nullif(locks, 0)) OVER its_queue_manager AS usual_held,
    count(*) OVER its_queue_manager AS intervals,
    spans_lost, spans
FROM rows
LEFT JOIN calls USING (system, qmgr, start)
LEFT JOIN of_tasks USING (system, qmgr, start)
LEFT JOIN topics USING (system, qmgr, start)
LEFT JOIN locks USING (system, qmgr, start)
WINDOW its_queue_manager AS (PARTITION BY system, qmgr)
