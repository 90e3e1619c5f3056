-- How long tasks of a queue manager waited in an interval to be the first to open a shared queue, or the last to
-- close it: latch 15 of WTAS, beside what these calls took in all.
WITH
placed AS (
    SELECT * FROM task_intervals('inputs.wtid', 'inputs.qmst')
),
parts AS (
    SELECT placed.*, openet + closeet AS open_us, openn AS opens
    FROM inputs.wqst
    JOIN placed USING (input_no, source, record_no)
    WHERE cfstrucname <> ''
    UNION ALL BY NAME
    SELECT placed.*, wtaslwet AS wait_us, wtaslwn AS waits
    FROM inputs.wtas_latch
    JOIN placed USING (input_no, source, record_no)
    WHERE latch = 15
)
SELECT
    system, qmgr, '' AS object, '' AS job, start, seconds, any_value(utc_offset) AS utc_offset,
    max(mq_version) AS mq_version, coalesce(sum(opens), 0)::BIGINT AS opens, coalesce(total(open_us), 0) AS open_us,
    coalesce(total(wait_us), 0) AS wait_us, coalesce(sum(waits), 0)::BIGINT AS waits
FROM parts
GROUP BY system, qmgr, start, seconds
