-- One row per task: its intervals (WTAS) and all its queue blocks (WQST) together. What a task did in
-- intervals whose 116/1 record is not in the input is what their 116/2 records say. Sums are those of the fields that
-- the columns of the view are.
WITH
parts AS (
    SELECT *, TRUE AS accounted FROM task_rows('wtas')
    UNION ALL BY NAME
    SELECT
        * REPLACE (
            NULL::DOUBLE AS interval_seconds,
            CASE WHEN of_source = source THEN coalesce(task_record_no, record_no) END AS record_no
        )
    FROM queue_use_rows('wqst')
),
owned AS (
    SELECT
        *,
        (coalesce(time, smf_time - to_seconds(coalesce(utc_offset, 0))), of_source, task_record)
            AS sequence
    FROM parts
    LEFT JOIN owners('wtid') USING (of_source, task_record)
)
SELECT
    arg_max(input_no, sequence) AS input_no,
    system, qmgr,
    arg_max(qsg, sequence) AS qsg,
    arg_max(mq_version, sequence) AS mq_version,
    max(smf_time) AS smf_time,
    max(counted_at) AS counted_at,
    max(time) AS time,
    arg_max(utc_offset, sequence) AS utc_offset,
    min(interval_start) AS interval_start,
    total(interval_seconds) AS interval_seconds,
    arg_max(of_source, sequence) AS source,
    arg_max(record_no, sequence) AS record_no,
    token,
    arg_max(job, sequence) AS job,
    arg_max("user", sequence) AS "user",
    arg_max(thread_user, sequence) AS thread_user,
    arg_max(connection_type, sequence) AS connection_type,
    arg_max("transaction", sequence) AS "transaction",
    arg_max(psb, sequence) AS psb,
    arg_max(cics_task, sequence) AS cics_task,
    arg_max(channel, sequence) AS channel,
    arg_max(connection, sequence) AS connection,
    max(wtasstrt) AS started,
    max(ended) AS ended,
    count(accounted) AS intervals,
    len(list_distinct(list(queue))) AS queues,
    sum(calls)::BIGINT AS calls,
    total(elapsed) AS elapsed,
    total(cpu) AS cpu,
    total(elapsed) / nullif(total(elapsed_of), 0) AS elapsed_per_call,
    total(cpu) / nullif(total(cpu_of), 0) AS cpu_per_call,
    total(wtascmet) / nullif(sum(timed(wtascmn, wtascmet)), 0) AS elapsed_per_commit,
    total(wtascmct) / nullif(sum(timed(wtascmn, wtascmct)), 0) AS cpu_per_commit,
    total(wtasjcet) / nullif(sum(timed(wtasjcn, wtasjcet)), 0) AS wait_per_log_force,
    total(srb) AS srb,
    sum(persistent_put)::BIGINT AS persistent_put,
    sums_of_fields
FROM owned
GROUP BY system, qmgr, token
