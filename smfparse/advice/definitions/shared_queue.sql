-- What tasks did on a shared queue in an interval: WQST, and from WQST_CF what MQPUT1 writes.
WITH
writes AS (
    SELECT
        input_no, source, record_no, block_no, sum(cfcount) AS put1_writes
    FROM inputs.wqst_cf
    WHERE verb = 'put1' AND request = 6
    GROUP BY ALL
)
SELECT
    placed.system, placed.qmgr, basename AS object, '' AS job, start, seconds,
    any_value(placed.utc_offset) AS utc_offset, max(placed.mq_version) AS mq_version,
    any_value(cfstrucname) AS structure, sum(openn)::BIGINT AS opens,
    sum(openn::BIGINT - opencf0)::BIGINT AS opens_cf, total(openet) AS open_us, total(openct) AS open_cpu_us,
    sum(put1n)::BIGINT AS put1s, sum(streamedn)::BIGINT AS streamed,
    coalesce(sum(put1_writes), 0)::BIGINT AS put1_writes
FROM inputs.wqst
JOIN task_intervals('inputs.wtid', 'inputs.qmst') AS placed USING (input_no, source, record_no)
LEFT JOIN writes USING (input_no, source, record_no, block_no)
WHERE cfstrucname <> ''
GROUP BY placed.system, placed.qmgr, basename, start, seconds
