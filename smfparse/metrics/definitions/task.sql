-- One row per task: its intervals (WTAS) and all its queue blocks (WQST) together. What a task did in
-- intervals whose 116/1 record is not in the input is what their 116/2 records say.
WITH
parts AS (
    SELECT
        input_no, system, qmgr, qsg, mq_version, smf_time, counted_at, time, utc_offset,
        interval_start, interval_seconds, record_no,
        coalesce(task_source, source) AS of_source,
        coalesce(task_record_offset, record_offset) AS task_record,
        task_of_wtas(task_started_tod, task_thread) AS token,
        wtasstrt AS started, CASE WHEN wtasaeot THEN wtasinte END AS ended, TRUE AS accounted,
        wtascmn::BIGINT + wtasban + wtasotn + coalesce(wtasprn, 0) + coalesce(wtassun, 0)
            + coalesce(wtassqn, 0) + coalesce(wtasctn, 0) + coalesce(wtasstn, 0) AS calls,
        of_all_verbs(
            wtascmet, wtasbaet, wtasotet, wtaspret, wtassuet, wtassqet, wtasctet, wtasstet
        ) + coalesce(wtastpet, 0) AS elapsed,
        of_all_verbs(
            timed(wtascmn, wtascmet), timed(wtasban, wtasbaet), timed(wtasotn, wtasotet), timed(wtasprn, wtaspret),
            timed(wtassun, wtassuet), timed(wtassqn, wtassqet), timed(wtasctn, wtasctet), timed(wtasstn, wtasstet)
        ) AS elapsed_of,
        of_all_verbs(
            wtascmct, wtasbact, wtasotct, wtasprct, wtassuct, wtassqct, wtasctct, wtasstct
        ) + coalesce(wtastpct, 0) AS cpu,
        of_all_verbs(
            timed(wtascmn, wtascmct), timed(wtasban, wtasbact), timed(wtasotn, wtasotct), timed(wtasprn, wtasprct),
            timed(wtassun, wtassuct), timed(wtassqn, wtassqct), timed(wtasctn, wtasctct), timed(wtasstn, wtasstct)
        ) AS cpu_of,
        wtascmn, wtascmet, wtascmct, wtasban, wtasbaet, wtasbact, wtasprn, wtaspret, wtasprct,
        wtassun, wtassqn, wtasctn, wtasstn, wtasotn, wtasotet, wtasotct, wtasctsr AS srb,
        wtasjwn, wtasjwet, wtasjwb, wtasjcn, wtasjcet, wtassusn, wtassuse, wtaspsn0, wtaspse0,
        wtasgpo, wtasgpn, wtasdbct, wtasdbet, wtasdbes, wtasdbpt, wtasdbgt,
        wtascsec, wtassstc, wtascmec, wtasmstc, wtassmrp, wtassmrb, wtassmwp, wtassmwb, wtassmwt,
        wtaspbhw, wtaspbtt
    FROM wtas
    UNION ALL BY NAME
    SELECT
        input_no, system, qmgr, qsg, mq_version, smf_time, counted_at, time, utc_offset,
        interval_start,
        CASE WHEN coalesce(task_source, source) = source THEN coalesce(task_record_no, record_no) END
            AS record_no,
        coalesce(task_source, source) AS of_source,
        coalesce(task_record_offset, record_offset) AS task_record,
        task_of_wqst(correl) AS token, queue_of(objname, basename) AS queue,
        openn::BIGINT + closen + getn + putn + put1n + inqn + setn + coalesce(cbn, 0) AS calls,
        of_all_verbs(openet, closeet, getet, putet, put1et, inqet, setet, cbet) AS elapsed,
        of_all_verbs(
            timed(openn, openet), timed(closen, closeet), timed(getn, getet), timed(putn, putet),
            timed(put1n, put1et), timed(inqn, inqet), timed(setn, setet), timed(cbn, cbet)
        ) AS elapsed_of,
        of_all_verbs(openct, closect, getct, putct, put1ct, inqct, setct, cbct) AS cpu,
        of_all_verbs(
            timed(openn, openct), timed(closen, closect), timed(getn, getct), timed(putn, putct),
            timed(put1n, put1ct), timed(inqn, inqct), timed(setn, setct), timed(cbn, cbct)
        ) AS cpu_of,
        openn, closen, getn, putn, put1n, inqn, setn, cbn,
        list_sum([topicopensrb, topicclosesrb, topicputsrb, topicput1srb]) AS srb,
        validput, putbytes, putpmsg::BIGINT + put1pmsg AS persistent_put,
        validget, getbytes, getpmsg
    FROM wqst
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
    max(started) AS started,
    max(ended) AS ended,
    count(accounted) AS intervals,
    len(list_distinct(list(queue))) AS queues,
    sum(calls)::BIGINT AS calls,
    total(elapsed) AS elapsed,
    total(cpu) AS cpu,
    total(elapsed) / nullif(total(elapsed_of), 0) AS elapsed_per_call,
    total(cpu) / nullif(total(cpu_of), 0) AS cpu_per_call,
    sum(openn)::BIGINT AS opens,
    sum(closen)::BIGINT AS closes,
    sum(getn)::BIGINT AS gets,
    sum(putn)::BIGINT AS puts,
    sum(put1n)::BIGINT AS put1s,
    sum(inqn)::BIGINT AS inqs,
    sum(setn)::BIGINT AS sets,
    sum(cbn)::BIGINT AS callbacks,
    sum(wtascmn)::BIGINT AS commits,
    total(wtascmet) AS commit_elapsed,
    total(wtascmct) AS commit_cpu,
    total(wtascmet) / nullif(sum(timed(wtascmn, wtascmet)), 0) AS elapsed_per_commit,
    total(wtascmct) / nullif(sum(timed(wtascmn, wtascmct)), 0) AS cpu_per_commit,
    sum(wtasban)::BIGINT AS backouts,
    total(wtasbaet) AS backout_elapsed,
    total(wtasbact) AS backout_cpu,
    sum(wtasprn)::BIGINT AS prepares,
    total(wtaspret) AS prepare_elapsed,
    total(wtasprct) AS prepare_cpu,
    sum(wtassun)::BIGINT AS subs,
    sum(wtassqn)::BIGINT AS subrqs,
    sum(wtasctn)::BIGINT AS ctls,
    sum(wtasstn)::BIGINT AS stats,
    sum(wtasotn)::BIGINT AS other_calls,
    total(wtasotet) AS other_elapsed,
    total(wtasotct) AS other_cpu,
    total(srb) AS srb,
    sum(validput)::BIGINT AS messages_put,
    TRY_CAST(sum(putbytes) AS UBIGINT) AS bytes_put,
    sum(persistent_put)::BIGINT AS persistent_put,
    sum(validget)::BIGINT AS messages_got,
    TRY_CAST(sum(getbytes) AS UBIGINT) AS bytes_got,
    sum(getpmsg)::BIGINT AS persistent_got,
    sum(wtasjwn)::BIGINT AS log_writes,
    sum(wtasjwb)::BIGINT AS log_bytes,
    total(wtasjwet) AS log_write_wait,
    sum(wtasjcn)::BIGINT AS log_forces,
    total(wtasjcet) AS log_force_wait,
    total(wtasjcet) / nullif(sum(timed(wtasjcn, wtasjcet)), 0) AS wait_per_log_force,
    sum(wtassusn)::BIGINT AS suspends,
    total(wtassuse) AS suspended,
    sum(wtaspsn0)::BIGINT AS page_set_0_logs,
    total(wtaspse0) AS page_set_0_log_wait,
    sum(wtasgpo)::BIGINT AS pages_old,
    sum(wtasgpn)::BIGINT AS pages_new,
    total(wtaspbhw) AS buffer_latch_wait,
    total(wtaspbtt) AS buffer_latch_held,
    sum(wtasdbct)::BIGINT AS db2_requests,
    total(wtasdbet) AS db2_elapsed,
    total(wtasdbes) AS db2_server_elapsed,
    TRY_CAST(sum(wtasdbpt) AS UBIGINT) AS db2_bytes_written,
    TRY_CAST(sum(wtasdbgt) AS UBIGINT) AS db2_bytes_read,
    sum(wtascsec)::BIGINT AS cf_single_calls,
    total(wtassstc) AS cf_single_elapsed,
    sum(wtascmec)::BIGINT AS cf_multiple_calls,
    total(wtasmstc) AS cf_multiple_elapsed,
    sum(wtassmrp)::BIGINT AS smds_pages_read,
    sum(wtassmrb)::BIGINT AS smds_bytes_read,
    sum(wtassmwp)::BIGINT AS smds_pages_written,
    sum(wtassmwb)::BIGINT AS smds_bytes_written,
    total(wtassmwt) AS smds_wait
FROM owned
GROUP BY system, qmgr, token
