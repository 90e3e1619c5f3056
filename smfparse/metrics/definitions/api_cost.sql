-- One row per verb that was used, in a queue block (WQST) or, of verbs that are about no queue, in a task's
-- interval (WTAS).
SELECT
    input_no, system, qmgr, qsg, mq_version, smf_time, counted_at, time, utc_offset,
    interval_start, interval_seconds, source, record_no, block_no, task_record_no,
    token, job, "user", connection_type, "transaction", psb, cics_task, channel, queue, verb,
    calls, elapsed, cpu, log_wait, page_set_wait, suspended, srb,
    elapsed / nullif(calls, 0) AS elapsed_per_call,
    cpu / nullif(calls, 0) AS cpu_per_call,
    log_wait / nullif(calls, 0) AS log_wait_per_call,
    page_set_wait / nullif(calls, 0) AS page_set_wait_per_call,
    suspended / nullif(calls, 0) AS suspended_per_call,
    srb / nullif(calls, 0) AS srb_per_call
FROM api_calls('wqst', 'wtas')
LEFT JOIN owners('wtid') USING (of_source, task_record)
