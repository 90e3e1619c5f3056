-- What a task did on a queue in an interval: WQST, and what stands in several of its fields. `_of` are the calls
-- that a time is known of.
CREATE OR REPLACE MACRO queue_use_facts(queues) AS TABLE
SELECT
    *, task_of_wqst(correl) AS token, queue_of(objname, basename) AS queue,
    list_sum([{calls}, ...])::BIGINT AS all_calls, list_sum([{elapsed}, ...]) AS all_elapsed,
    list_sum([{cpu}, ...]) AS all_cpu, list_sum([timed({calls}, {elapsed}), ...])::DOUBLE AS elapsed_of,
    list_sum([timed({calls}, {cpu}), ...])::DOUBLE AS cpu_of
FROM of_tasks(queues);

-- The API calls in WQST: one row per block and verb that was used, with all that is in the block.
CREATE OR REPLACE MACRO calls_of_queues(queues) AS TABLE
SELECT * EXCLUDE (call, elapsed_of, cpu_of), call.*
FROM (
    SELECT *, unnest([api_call(
        '{verb}', {calls}, {elapsed}, {cpu}, {log_write} + coalesce({log_force}, 0), {page_set}, {suspended}, {srb}
    ), ...]) AS call
    FROM queue_use_facts(queues)
)
WHERE call.calls <> 0 OR call.elapsed <> 0 OR call.cpu <> 0;

CREATE OR REPLACE MACRO verbs_of_queues() AS ['{verb}', ...];

-- What calls on queues did over time: one row per time, queue and user. `users` names rows of owners. What calls of
-- each of `verbs` did, calls_by_verb shows.
CREATE OR REPLACE MACRO queue_calls(queues, users) AS TABLE
SELECT
    system, qmgr, start, seconds, queue_of(objname, basename) AS queue, is_shared, job,
    coalesce("transaction", psb) AS "transaction", nullif(channel, '') AS channel,
    ['{verb}', ...] AS verbs, [sum({calls}), ...] AS verb_calls, [total({cpu}), ...] AS verb_cpu,
    [total({elapsed}), ...] AS verb_elapsed, [sum(timed({calls}, {elapsed})), ...] AS verb_elapsed_of,
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
