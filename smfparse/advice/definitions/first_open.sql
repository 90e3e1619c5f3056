-- Waits for latch 15 in an interval, by tasks that are the first to open a shared queue or the last to close it, and
-- the duration of all MQOPEN and MQCLOSE on shared queues.
WITH
parts AS (
    SELECT input_no, source, record_no, open_elapsed + close_elapsed AS open_us, opens
    FROM queue_use_figures
    WHERE structure IS NOT NULL
    UNION ALL BY NAME
    SELECT input_no, source, record_no, waited AS wait_us, waits
    FROM latch_figures
    WHERE latch = 15
)
SELECT
    system, qmgr, '' AS object, '' AS job, start, seconds, any_value(utc_offset) AS utc_offset,
    max(mq_version) AS mq_version, coalesce(sum(opens), 0)::BIGINT AS opens, coalesce(total(open_us), 0) AS open_us,
    coalesce(total(wait_us), 0) AS wait_us, coalesce(sum(waits), 0)::BIGINT AS waits
FROM parts
JOIN task_intervals('inputs.wtid', 'inputs.qmst') USING (input_no, source, record_no)
GROUP BY system, qmgr, start, seconds
