-- What a task did on a queue in an interval: WQST, and what stands in several of its fields. Rows of a task and interval,
-- in whatever sources they are, have the same `of_source` and `task_record`: see owners. `_of` are the calls that a time
-- is known of.
CREATE OR REPLACE MACRO queue_use_facts(queues) AS TABLE
SELECT
    *, coalesce(task_source, source) AS of_source, coalesce(task_record_offset, record_offset) AS task_record,
    task_of_wqst(correl) AS token, queue_of(objname, basename) AS queue,
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
FROM query_table(queues);
