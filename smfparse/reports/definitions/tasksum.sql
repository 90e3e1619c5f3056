-- TASKSUM: one row per section, kind of connection, job and user, and transaction where rows are by it: what
-- their tasks did (WTID, WTAS, WQST).
WITH
queues AS (
    SELECT
        of_source, task_record, min(token) AS token, sum(all_calls) AS requests,
        sum(putn::BIGINT + put1n) AS puts, sum(getn) AS gets,
        total(all_elapsed) AS elapsed, total(all_cpu) AS cpu,
        total(elapsed_of) AS elapsed_of, total(cpu_of) AS cpu_of
    FROM queue_use_facts('sectioned.wqst')
    GROUP BY ALL
),
tasks AS (
    SELECT of_source, task_record, record_no, block_no, token FROM task_facts('sectioned.wtas')
),
-- What the tasks did beside the calls on their queues. Where queues are selected it is not known which of
-- this is about them, so there is none of it.
beside AS (
    SELECT
        *, timed(wtascmn, wtascmet) AS wtascmet_of, timed(wtascmn, wtascmct) AS wtascmct_of,
        all_calls - wtascmn AS other_calls,
        list_sum([wtasbaet, wtaspret, wtassuet, wtassqet, wtasctet, wtasstet, wtasotet])
            AS other_elapsed,
        list_sum([wtasbact, wtasprct, wtassuct, wtassqct, wtasctct, wtasstct, wtasotct])
            AS other_cpu,
        elapsed_of - wtascmet_of AS other_elapsed_of, cpu_of - wtascmct_of AS other_cpu_of
    FROM task_facts('sectioned.wtas')
    WHERE NOT getvariable('of_queues')
),
-- Where the 116/1 record of a task is not there, its first 116/2 record says whose it is.
named AS (
    SELECT
        section, of_source, task_record, wtidatyp_text, wtidccn, wtidopid,
        asked_for('transaction', coalesce("transaction", psb)) AS "transaction"
    FROM of_tasks('sectioned.wtid')
    QUALIFY row_number() OVER (
        PARTITION BY of_source, task_record
        ORDER BY source <> of_source, source, record_offset
    ) = 1
),
summed AS (
    SELECT
        i.section, i.wtidatyp_text, i.wtidccn, i.wtidopid, i."transaction",
        count(DISTINCT coalesce(t.token, q.token)) AS tasks,
        count(t.record_no) AS task_intervals,
        coalesce(sum(q.requests), 0)::BIGINT AS requests,
        coalesce(sum(q.puts), 0)::BIGINT AS puts,
        coalesce(sum(q.gets), 0)::BIGINT AS gets,
        sum(b.wtascmn)::BIGINT AS wtascmn,
        sum(b.wtasban)::BIGINT AS wtasban,
        sum(b.other_calls)::BIGINT AS other_calls,
        total(coalesce(b.all_elapsed, 0) + coalesce(q.elapsed, 0)) AS elapsed,
        total(coalesce(b.all_cpu, 0) + coalesce(q.cpu, 0)) AS cpu,
        total(q.elapsed) / nullif(total(q.elapsed_of), 0) AS request_elapsed,
        total(q.cpu) / nullif(total(q.cpu_of), 0) AS request_cpu,
        total(b.wtascmet) / nullif(sum(b.wtascmet_of), 0) AS commit_elapsed,
        total(b.wtascmct) / nullif(sum(b.wtascmct_of), 0) AS commit_cpu,
        total(b.other_elapsed) / nullif(sum(b.other_elapsed_of), 0) AS other_call_elapsed,
        total(b.other_cpu) / nullif(sum(b.other_cpu_of), 0) AS other_call_cpu,
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
    * EXCLUDE (wtidatyp_text, elapsed, cpu),
    connection_of(wtidatyp_text) AS connection,
    elapsed / 1e6 AS elapsed_seconds, cpu / 1e6 AS cpu_seconds,
    wtasjwb / 1048576 AS log_mb
FROM summed
