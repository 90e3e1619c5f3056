-- Coupling facility requests (WQST_CF) of the calls on queues of a structure in an interval.
SELECT
    placed.system, placed.qmgr, structure AS object, '' AS job, start, seconds,
    any_value(placed.utc_offset) AS utc_offset, max(placed.mq_version) AS mq_version,
    sum(cfcount)::BIGINT AS requests, sum(cfasyncn)::BIGINT AS asynchronous,
    total(cfsyncet) AS sync_us, total(cfasyncet) AS async_us
FROM inputs.wqst_cf
JOIN queue_use_figures USING (input_no, source, record_no, block_no)
JOIN task_intervals('inputs.wtid', 'inputs.qmst') AS placed USING (input_no, source, record_no)
WHERE structure IS NOT NULL
GROUP BY placed.system, placed.qmgr, structure, start, seconds
