-- The volume and CPU cost of class 3 in a queue manager, and its maximum of records per second, over the whole input.
WITH
used AS (
    SELECT system, qmgr, total(spent.calls) AS calls, total(spent.cpu) AS cpu
    FROM (FROM task_figures UNION ALL BY NAME FROM queue_use_figures) AS spent
    GROUP BY system, qmgr
),
brief AS (
    SELECT
        input_no, source, record_no, of_source, task_record, TRUE AS is_brief
    FROM task_figures
    WHERE has_ended AND lived < 1
),
continued AS (
    SELECT DISTINCT q.input_no, q.source, q.record_no, TRUE AS is_continued
    FROM queue_use_figures AS q
    JOIN brief
        ON q.of_source = brief.of_source AND q.task_record = brief.task_record
        AND (q.source, q.record_no) <> (brief.source, brief.record_no)
),
records AS (
    SELECT
        system, qmgr, smf_time, time, utc_offset, mq_version, length::DOUBLE AS length,
        type = 116 AND subtype IN (1, 2) AS is_class3, coalesce(is_brief, is_continued, FALSE) AS is_short,
        count(*) OVER (PARTITION BY system, qmgr, date_trunc('second', smf_time)) AS in_second
    FROM inputs.record
    LEFT JOIN brief USING (input_no, source, record_no)
    LEFT JOIN continued USING (input_no, source, record_no)
    WHERE qmgr <> ''
),
counted AS (
    SELECT
        system, qmgr, min(coalesce(time, smf_time - to_seconds(coalesce(utc_offset, 0)))) AS start,
        (max(epoch_us(smf_time) - 1_000_000::BIGINT * coalesce(utc_offset, 0))
            - min(epoch_us(smf_time) - 1_000_000::BIGINT * coalesce(utc_offset, 0))) / 1e6 AS seconds,
        any_value(utc_offset) AS utc_offset, any_value(mq_version) AS mq_version,
        count(*) AS records, max(in_second) AS most_in_second,
        count(*) FILTER (is_class3) AS class3_records,
        total(CASE WHEN is_class3 THEN length ELSE 0 END) AS class3_bytes,
        total(CASE WHEN is_class3 AND is_short THEN length ELSE 0 END) AS brief_bytes
    FROM records
    GROUP BY system, qmgr
)
SELECT
    system, qmgr, '' AS object, '' AS job, start, seconds, utc_offset, mq_version,
    records, most_in_second, class3_records, class3_bytes, brief_bytes,
    cpu, 0.5 * calls + 4 * class3_records AS class3_cpu
FROM counted
LEFT JOIN used USING (system, qmgr)
