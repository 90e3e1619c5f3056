-- What a task did in an interval beside its calls on queues: WTAS, and what stands in several of its fields. See
-- queue_use_facts.
CREATE OR REPLACE MACRO task_facts(tasks) AS TABLE
SELECT
    *, task_of_wtas(task_started_tod, task_thread) AS token, CASE WHEN wtasaeot THEN wtasinte END AS ended,
    list_sum([{calls}, ...])::BIGINT AS all_calls, list_sum([{elapsed}, ...]) AS all_elapsed,
    list_sum([{cpu}, ...]) AS all_cpu, list_sum([timed({calls}, {elapsed}), ...])::DOUBLE AS elapsed_of,
    list_sum([timed({calls}, {cpu}), ...])::DOUBLE AS cpu_of
FROM of_tasks(tasks);

-- The API calls in WTAS, which are about no queue, with all that is in the block.
CREATE OR REPLACE MACRO calls_of_tasks(tasks) AS TABLE
SELECT * EXCLUDE (call, elapsed_of, cpu_of), call.*
FROM (
    SELECT *, unnest([api_call('{verb}', {calls}, {elapsed}, {cpu}, NULL, NULL, NULL, {srb}), ...]) AS call
    FROM task_facts(tasks)
)
WHERE call.calls <> 0 OR call.elapsed <> 0 OR call.cpu <> 0;

-- The API calls in WQST and WTAS.
CREATE OR REPLACE MACRO api_calls(queues, tasks) AS TABLE
SELECT * FROM calls_of_queues(queues) UNION ALL BY NAME SELECT * FROM calls_of_tasks(tasks);

-- What calls about no queue did over time: one row per time and user. See queue_calls.
CREATE OR REPLACE MACRO task_calls(tasks, users) AS TABLE
SELECT
    system, qmgr, start, seconds, job, coalesce("transaction", psb) AS "transaction",
    nullif(channel, '') AS channel, sum(wtasban) AS backouts,
    ['{verb}', ...] AS verbs, [sum({calls}::BIGINT), ...] AS verb_calls, [total({cpu}), ...] AS verb_cpu,
    [total({elapsed}), ...] AS verb_elapsed, [sum(timed({calls}, {elapsed})::BIGINT), ...] AS verb_elapsed_of,
    total(all_cpu) AS cpu, total(all_elapsed) AS elapsed
FROM (
    SELECT *, begin_of_row(interval_start, interval_seconds) AS start, seconds_of_row(interval_seconds) AS seconds
    FROM task_facts(tasks)
)
LEFT JOIN query_table(users) USING (of_source, task_record)
GROUP BY system, qmgr, start, seconds, job, coalesce("transaction", psb), channel;

-- Whether tasks ended, and which whole life is in one record: it ends the task, and began with it; or there is no
-- other of the task, though the task is younger than the first record here.
CREATE OR REPLACE MACRO lives_of_tasks(tasks) AS TABLE
SELECT
    of_source, task_record, wtasaeot AS ended,
    wtasaeot AND (
        epoch_us(wtasints) - epoch_us(wtasstrt) <= 1_000_000
        OR (
            count(*) OVER (PARTITION BY system, qmgr, wtasstrt, wtasmthr, wtaswtas) = 1
            AND wtasstrt > min(wtasinte) OVER (PARTITION BY system, qmgr)
        )
    ) AS short_lived
FROM of_tasks(tasks)
WHERE block_no = 1;

-- The place of a verb among all: those on queues first.
CREATE OR REPLACE MACRO verb_order(verb) AS list_position(verbs_of_queues() || ['{verb}', ...], verb);
