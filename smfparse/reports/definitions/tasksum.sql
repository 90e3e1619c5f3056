-- TASKSUM: one row per section, kind of connection, job and user: what their tasks did (WTID, WTAS,
-- WQST).
WITH
queues AS (
    SELECT
        coalesce(task_source, source) AS of_source,
        coalesce(task_record_offset, record_offset) AS task_record,
        min(task_of_wqst(correl)) AS token,
        sum(openn::BIGINT + closen + getn + putn + put1n + inqn + setn + coalesce(cbn, 0))
            AS requests,
        sum(putn::BIGINT + put1n) AS puts, sum(getn) AS gets,
        total(openet + closeet + getet + putet + put1et + inqet + setet + coalesce(cbet, 0))
            AS elapsed,
        total(openct + closect + getct + putct + put1ct + inqct + setct + coalesce(cbct, 0))
            AS cpu
    FROM sectioned.wqst
    GROUP BY ALL
),
tasks AS (
    SELECT
        coalesce(task_source, source) AS of_source,
        coalesce(task_record_offset, record_offset) AS task_record, record_no, block_no,
        task_of_wtas(wtasstrt, wtasmthr, wtaswtas) AS token
    FROM sectioned.wtas
),
-- What the tasks did beside the calls on their queues. Where queues are selected it is not known which of
-- this is about them, so there is none of it.
beside AS (
    SELECT
        coalesce(task_source, source) AS of_source,
        coalesce(task_record_offset, record_offset) AS task_record, block_no,
        wtascmn, wtascmct, wtascmet, wtasban, wtasjwn, wtasjwb, wtasjcn, wtasgpo, wtasgpn,
        list_sum([wtasban, wtasprn, wtassun, wtassqn, wtasctn, wtasstn, wtasotn]) AS other_calls,
        list_sum([wtasbaet, wtaspret, wtassuet, wtassqet, wtasctet, wtasstet, wtasotet])
            AS other_elapsed,
        list_sum([wtasbact, wtasprct, wtassuct, wtassqct, wtasctct, wtasstct, wtasotct])
            AS other_cpu,
        coalesce(wtascmet, 0) + coalesce(other_elapsed, 0) + coalesce(wtastpet, 0) AS elapsed,
        coalesce(wtascmct, 0) + coalesce(other_cpu, 0) + coalesce(wtastpct, 0) AS cpu
    FROM sectioned.wtas
    WHERE NOT getvariable('of_queues')
),
-- Where the 116/1 record of a task is not there, its first 116/2 record says whose it is.
named AS (
    SELECT
        section, coalesce(task_source, source) AS of_source,
        coalesce(task_record_offset, record_offset) AS task_record,
        wtidatyp_text, wtidccn, wtidopid
    FROM sectioned.wtid
    QUALIFY row_number() OVER (
        PARTITION BY of_source, task_record
        ORDER BY source <> of_source, source, record_offset
    ) = 1
),
summed AS (
    SELECT
        i.section, i.wtidatyp_text, i.wtidccn, i.wtidopid,
        count(DISTINCT coalesce(t.token, q.token)) AS tasks,
        count(t.record_no) AS task_intervals,
        coalesce(sum(q.requests), 0)::BIGINT AS requests,
        coalesce(sum(q.puts), 0)::BIGINT AS puts,
        coalesce(sum(q.gets), 0)::BIGINT AS gets,
        sum(b.wtascmn)::BIGINT AS wtascmn,
        sum(b.wtasban)::BIGINT AS wtasban,
        sum(b.other_calls)::BIGINT AS other_calls,
        total(coalesce(b.elapsed, 0) + coalesce(q.elapsed, 0)) AS elapsed,
        total(coalesce(b.cpu, 0) + coalesce(q.cpu, 0)) AS cpu,
        total(q.elapsed) AS queue_elapsed, total(q.cpu) AS queue_cpu,
        total(b.wtascmet) AS wtascmet, total(b.wtascmct) AS wtascmct,
        total(b.other_elapsed) AS other_elapsed, total(b.other_cpu) AS other_cpu,
        sum(b.wtasjwn)::BIGINT AS wtasjwn,
        sum(b.wtasjwb)::BIGINT AS wtasjwb,
        sum(b.wtasjcn)::BIGINT AS wtasjcn,
        sum(b.wtasgpo)::BIGINT AS wtasgpo,
        sum(b.wtasgpn)::BIGINT AS wtasgpn
    FROM named AS i
    LEFT JOIN tasks AS t USING (of_source, task_record)
    LEFT JOIN beside AS b USING (of_source, task_record, block_no)
    LEFT JOIN queues AS q USING (of_source, task_record)
    GROUP BY ALL
)
SELECT
    * EXCLUDE (
        wtidatyp_text, elapsed, cpu, queue_elapsed, queue_cpu, wtascmet, wtascmct, other_elapsed,
        other_cpu
    ),
    connection_of(wtidatyp_text) AS connection,
    elapsed / 1e6 AS elapsed_seconds, cpu / 1e6 AS cpu_seconds,
    wtasjwb / 1048576 AS log_mb,
    queue_elapsed / nullif(requests, 0) AS request_elapsed,
    queue_cpu / nullif(requests, 0) AS request_cpu,
    wtascmet / nullif(wtascmn, 0) AS commit_elapsed, wtascmct / nullif(wtascmn, 0) AS commit_cpu,
    other_elapsed / nullif(other_calls, 0) AS other_call_elapsed,
    other_cpu / nullif(other_calls, 0) AS other_call_cpu
FROM summed
