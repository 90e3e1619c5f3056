-- What tasks did on a shared queue in an interval, and what MQPUT1 writes.
WITH
writes AS (
    SELECT
        input_no, source, record_no, block_no, sum(cfcount) AS put1_writes
    FROM inputs.wqst_cf
    WHERE verb = 'put1' AND request = 6
    GROUP BY ALL
)
SELECT
    placed.system, placed.qmgr, base_name AS object, '' AS job, start, seconds,
    any_value(placed.utc_offset) AS utc_offset, max(placed.mq_version) AS mq_version,
    any_value(structure) AS structure, sum(opens)::BIGINT AS opens,
    sum(opens - opencf0)::BIGINT AS opens_cf, total(open_elapsed) AS open_us, total(open_cpu) AS open_cpu_us,
    sum(put1s)::BIGINT AS put1s, sum(streamed)::BIGINT AS streamed,
    coalesce(sum(put1_writes), 0)::BIGINT AS put1_writes
FROM queue_use_figures
JOIN task_intervals('inputs.wtid', 'inputs.qmst') AS placed USING (input_no, source, record_no)
LEFT JOIN writes USING (input_no, source, record_no, block_no)
WHERE structure IS NOT NULL
GROUP BY placed.system, placed.qmgr, base_name, start, seconds
