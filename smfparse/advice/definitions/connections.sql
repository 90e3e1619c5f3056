-- The connections of a channel in an interval, from class 3: tasks (WTAS, WTID) and what they did (WQST). One
-- counts where it ends, for its first record may begin after it did.
WITH
intervals AS (
    SELECT DISTINCT system, qmgr, interval_start AS start, interval_seconds AS seconds
    FROM inputs.qmst
    WHERE interval_seconds BETWEEN 0 AND 1e9
),
firsts AS (
    SELECT system, qmgr, min(start) - to_seconds(3 * median(seconds)) AS first
    FROM intervals
    GROUP BY system, qmgr
),
done AS (
    SELECT
        input_no, source, coalesce(task_record_no, record_no) AS record_no,
        sum(validget)::DOUBLE AS got, sum(validput)::DOUBLE AS put, sum(openn)::DOUBLE AS opens
    FROM inputs.wqst
    GROUP BY ALL
),
tasks AS (
    SELECT
        system, qmgr, wtidchl AS object, wtidccn AS job, utc_offset, mq_version,
        CASE WHEN interval_seconds BETWEEN 0 AND 1e9 THEN interval_seconds END AS length,
        interval_start AS began, interval_start + to_seconds(length / 2) AS middle,
        interval_start + to_seconds(length) AS until, wtasaeot AS has_ended,
        epoch_us(until) / 1e6 - epoch_us(wtasstrt) / 1e6 AS lived, wtasctn AS ctls,
        coalesce(got, 0) AS got, coalesce(put, 0) AS put, coalesce(opens, 0) AS opens
    FROM inputs.wtas
    JOIN (
        SELECT input_no, source, record_no, wtidchl, wtidccn FROM inputs.wtid WHERE wtidchl <> ''
    ) USING (input_no, source, record_no)
    LEFT JOIN done USING (input_no, source, record_no)
),
placed AS (
    SELECT
        tasks.*,
        middle < intervals.start + to_seconds(seconds + 1) AS fits,
        CASE WHEN fits THEN intervals.start ELSE time_bucket(INTERVAL 10 MINUTE, middle) END AS start,
        CASE WHEN fits THEN seconds ELSE 600 END AS seconds
    FROM tasks
    ASOF LEFT JOIN intervals
        ON tasks.system = intervals.system AND tasks.qmgr = intervals.qmgr
        AND tasks.middle >= intervals.start
)
SELECT
    system, qmgr, object, job, start, seconds,
    any_value(utc_offset) AS utc_offset, any_value(mq_version) AS mq_version,
    count(*) FILTER (has_ended) AS connects,
    count(*) FILTER (has_ended AND lived < seconds) AS brief,
    total(CASE WHEN has_ended AND lived < seconds THEN lived END) AS brief_seconds,
    sum(CASE WHEN has_ended THEN got + put ELSE 0 END)::DOUBLE AS messages,
    sum(got)::DOUBLE AS got, sum(put)::DOUBLE AS put, sum(opens)::DOUBLE AS opens,
    sum(ctls)::DOUBLE AS ctls
FROM placed
LEFT JOIN firsts USING (system, qmgr)
WHERE first IS NULL OR began >= first
GROUP BY system, qmgr, object, job, start, seconds
