-- What tasks did on a shared queue in an interval: WQST, and WQST_CF with its requests to the coupling facility.
WITH
requests AS (
    SELECT
        input_no, source, record_no, block_no,
        sum(CASE WHEN verb = 'get' AND request = 9 THEN cfcount END) AS lists,
        sum(CASE WHEN verb = 'get' AND request IN (11, 12) THEN cfcount END) AS moves,
        sum(CASE WHEN verb = 'put1' AND request = 6 THEN cfcount END) AS put1_writes
    FROM inputs.wqst_cf
    GROUP BY ALL
)
SELECT
    placed.system, placed.qmgr, basename AS object, '' AS job, start, seconds,
    any_value(placed.utc_offset) AS utc_offset, max(placed.mq_version) AS mq_version,
    any_value(cfstrucname) AS structure, sum(openn)::BIGINT AS opens,
    sum(openn::BIGINT - opencf0)::BIGINT AS opens_cf, total(openet) AS open_us, total(openct) AS open_cpu_us,
    sum(getn)::BIGINT AS gets, sum(put1n)::BIGINT AS put1s, sum(streamedn)::BIGINT AS streamed,
    CASE WHEN max(wqver) >= 6 THEN coalesce(sum(lists), 0)::BIGINT END AS lists,
    CASE WHEN max(wqver) >= 6 THEN coalesce(sum(moves), 0)::BIGINT END AS moves,
    CASE WHEN max(wqver) >= 6 THEN coalesce(sum(put1_writes), 0)::BIGINT END AS put1_writes
FROM inputs.wqst
JOIN task_intervals('inputs.wtid', 'inputs.qmst') AS placed USING (input_no, source, record_no)
LEFT JOIN requests USING (input_no, source, record_no, block_no)
WHERE cfstrucname <> ''
GROUP BY placed.system, placed.qmgr, basename, start, seconds
