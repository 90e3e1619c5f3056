-- TASKSUM: one row per section, kind of connection, job and user: what their tasks did (WTID, WTAS,
-- WQST).
WITH
queues AS (
    SELECT
        input_no, source, coalesce(task_record_no, record_no) AS record_no,
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
        *,
        task_of_wtas(wtasstrt, wtasmthr, wtaswtas) AS token,
        coalesce(wtascmet + wtasbaet + wtasotet, 0) + coalesce(wtaspret, 0) + coalesce(wtassuet, 0)
            + coalesce(wtassqet, 0) + coalesce(wtasctet, 0) + coalesce(wtasstet, 0)
            + coalesce(wtastpet, 0) AS elapsed,
        coalesce(wtascmct + wtasbact + wtasotct, 0) + coalesce(wtasprct, 0) + coalesce(wtassuct, 0)
            + coalesce(wtassqct, 0) + coalesce(wtasctct, 0) + coalesce(wtasstct, 0)
            + coalesce(wtastpct, 0) AS cpu
    FROM sectioned.wtas
),
-- Where the 116/1 record of a task is not there, its first 116/2 record says whose it is.
named AS (
    SELECT
        section, input_no, source, coalesce(task_record_no, w.record_no) AS record_no,
        wtidatyp_text, wtidccn, wtidopid
    FROM sectioned.wtid AS w
    QUALIFY row_number() OVER (
        PARTITION BY input_no, source, coalesce(task_record_no, w.record_no) ORDER BY w.record_no
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
        sum(t.wtascmn)::BIGINT AS wtascmn,
        sum(t.wtasban)::BIGINT AS wtasban,
        total(coalesce(t.elapsed, 0) + coalesce(q.elapsed, 0)) AS elapsed,
        total(coalesce(t.cpu, 0) + coalesce(q.cpu, 0)) AS cpu,
        sum(t.wtasjwn)::BIGINT AS wtasjwn,
        sum(t.wtasjwb)::BIGINT AS wtasjwb,
        sum(t.wtasjcn)::BIGINT AS wtasjcn,
        sum(t.wtasgpo)::BIGINT AS wtasgpo,
        sum(t.wtasgpn)::BIGINT AS wtasgpn
    FROM named AS i
    LEFT JOIN tasks AS t USING (input_no, source, record_no)
    LEFT JOIN queues AS q USING (input_no, source, record_no)
    GROUP BY ALL
)
SELECT
    * EXCLUDE (wtidatyp_text, elapsed, cpu),
    connection_of(wtidatyp_text) AS connection,
    elapsed / 1e6 AS elapsed_seconds, cpu / 1e6 AS cpu_seconds,
    wtasjwb / 1048576 AS log_mb,
    elapsed / nullif(requests, 0) AS request_elapsed, cpu / nullif(requests, 0) AS request_cpu,
    cpu / nullif(wtascmn, 0) AS commit_cpu
FROM summed
