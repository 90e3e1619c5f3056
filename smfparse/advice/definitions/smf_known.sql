-- The kinds of records that a queue manager wrote, and the symptoms of known defects, over the whole input.
WITH
written AS (
    SELECT
        system, qmgr, min(coalesce(time, smf_time - to_seconds(coalesce(utc_offset, 0)))) AS start,
        (max(epoch_us(smf_time) - 1_000_000::BIGINT * coalesce(utc_offset, 0))
            - min(epoch_us(smf_time) - 1_000_000::BIGINT * coalesce(utc_offset, 0))) / 1e6 AS seconds,
        any_value(utc_offset) AS utc_offset, max(mq_version) AS mq_version,
        count(*) FILTER (type = 115) AS statistics,
        count(*) FILTER (type = 115 AND subtype IN (5, 6, 7)) AS class3_statistics,
        count(*) FILTER ((type = 115 AND subtype = 231) OR (type = 116 AND subtype = 10)) AS class4
    FROM inputs.record
    WHERE qmgr <> ''
    GROUP BY system, qmgr
),
tasks AS (
    SELECT system, qmgr, count(*) FILTER (of_channels) AS movers
    FROM identity_figures
    GROUP BY system, qmgr
),
queues AS (
    SELECT
        uses.system, uses.qmgr,
        count(*) FILTER (
            of_cics_or_chinit AND ((gets > 0 AND get_elapsed = 0) OR (puts > 0 AND put_elapsed = 0))
        ) AS timeless,
        count(*) FILTER (fnoacctg) AS unaccounted
    FROM queue_use_figures AS uses
    LEFT JOIN (
        SELECT input_no, source, record_no, of_cics_or_chinit FROM identity_figures WHERE block_no = 1
    ) AS owner USING (input_no, source, record_no)
    GROUP BY uses.system, uses.qmgr
),
structures AS (
    SELECT system, qmgr, count(*) AS structures
    FROM structure_figures
    GROUP BY system, qmgr
)
SELECT
    system, qmgr, '' AS object, '' AS job, start, seconds, utc_offset, mq_version,
    release_of(mq_version) AS release,
    statistics, class3_statistics, class4, coalesce(movers, 0) AS movers,
    coalesce(timeless, 0) AS timeless, coalesce(unaccounted, 0) AS unaccounted,
    coalesce(structures, 0) AS structures
FROM written
LEFT JOIN tasks USING (system, qmgr)
LEFT JOIN queues USING (system, qmgr)
LEFT JOIN structures USING (system, qmgr)
