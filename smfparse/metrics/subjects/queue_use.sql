-- What a task did on a queue in an interval: WQST, and what stands in several of its fields. `_of` are the calls
-- that a time is known of.
CREATE OR REPLACE MACRO queue_use_facts(queues) AS TABLE
SELECT
    *, task_of_wqst(correl) AS token, queue_of(objname, basename) AS queue,
    openn::BIGINT + closen + getn + putn + put1n + inqn + setn + coalesce(cbn, 0) AS all_calls,
    of_all_verbs(openet, closeet, getet, putet, put1et, inqet, setet, cbet) AS all_elapsed,
    of_all_verbs(openct, closect, getct, putct, put1ct, inqct, setct, cbct) AS all_cpu,
    of_all_verbs(
        timed(openn, openet), timed(closen, closeet), timed(getn, getet), timed(putn, putet),
        timed(put1n, put1et), timed(inqn, inqet), timed(setn, setet), timed(cbn, cbet)
    ) AS elapsed_of,
    of_all_verbs(
        timed(openn, openct), timed(closen, closect), timed(getn, getct), timed(putn, putct),
        timed(put1n, put1ct), timed(inqn, inqct), timed(setn, setct), timed(cbn, cbct)
    ) AS cpu_of
FROM of_tasks(queues);

-- The API calls in WQST: one row per block and verb that was used, with all that is in the block.
CREATE OR REPLACE MACRO calls_of_queues(queues) AS TABLE
SELECT * EXCLUDE (call, elapsed_of, cpu_of), call.*
FROM (
    SELECT
        *,
        unnest([
            api_call('open', openn, openet, openct, NULL, NULL, opensuet, topicopensrb),
            api_call('close', closen, closeet, closect, NULL, NULL, closesuet, topicclosesrb),
            api_call('get', getn, getet, getct, getjwet + coalesce(getjcet, 0), getpset, getsuset,
                NULL),
            api_call('put', putn, putet, putct, putjwet + coalesce(putjcet, 0), putpset, putsuset,
                topicputsrb),
            api_call('put1', put1n, put1et, put1ct, put1jwet + coalesce(put1jcet, 0), put1pset,
                put1suset, topicput1srb),
            api_call('inq', inqn, inqet, inqct, NULL, NULL, NULL, NULL),
            api_call('set', setn, setet, setct, setjwet + coalesce(setjcet, 0), NULL, NULL, NULL),
            api_call('cb', cbn, cbet, cbct, NULL, NULL, NULL, NULL)
        ]) AS call
    FROM queue_use_facts(queues)
)
WHERE call.calls <> 0 OR call.elapsed <> 0 OR call.cpu <> 0;

-- its calls (_n), their CPU and elapsed time in microseconds, and of how many calls the latter is known (_of).
CREATE OR REPLACE MACRO queue_calls(queues, users) AS TABLE
SELECT
    system, qmgr, start, seconds, queue_of(objname, basename) AS queue, is_shared, job,
    coalesce("transaction", psb) AS "transaction", nullif(channel, '') AS channel,
    sum(openn) AS open_n, sum(closen) AS close_n, sum(getn) AS get_n, sum(putn) AS put_n, sum(put1n) AS put1_n,
    sum(inqn) AS inq_n, sum(setn) AS set_n, sum(cbn) AS cb_n,
    total(openct) AS open_cpu, total(closect) AS close_cpu, total(getct) AS get_cpu, total(putct) AS put_cpu,
    total(put1ct) AS put1_cpu, total(inqct) AS inq_cpu, total(setct) AS set_cpu, total(cbct) AS cb_cpu,
    total(openet) AS open_time, total(closeet) AS close_time, total(getet) AS get_time, total(putet) AS put_time,
    total(put1et) AS put1_time, total(inqet) AS inq_time, total(setet) AS set_time, total(cbet) AS cb_time,
    sum(timed(openn, openet)) AS open_of, sum(timed(closen, closeet)) AS close_of, sum(timed(getn, getet)) AS get_of,
    sum(timed(putn, putet)) AS put_of, sum(timed(put1n, put1et)) AS put1_of, sum(timed(inqn, inqet)) AS inq_of,
    sum(timed(setn, setet)) AS set_of, sum(timed(cbn, cbet)) AS cb_of,
    sum(validput)::DOUBLE AS puts, sum(coalesce(getdval, validget))::DOUBLE AS gets,
    sum(putbytes)::DOUBLE AS put_bytes, sum(getbytes)::DOUBLE AS got_bytes,
    total(all_cpu) AS cpu, total(all_elapsed) AS elapsed
FROM (
    SELECT
        *, coalesce(cfstrucname <> '', FALSE) AS is_shared,
        begin_of_row(interval_start, interval_seconds) AS start, seconds_of_row(interval_seconds) AS seconds
    FROM queue_use_facts(queues)
)
LEFT JOIN query_table(users) USING (of_source, task_record)
GROUP BY
    system, qmgr, start, seconds, objname, basename, is_shared, job, coalesce("transaction", psb), channel;
