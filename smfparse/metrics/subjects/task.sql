-- What a task did in an interval beside its calls on queues: WTAS, and what stands in several of its fields. See
-- queue_use_facts.
CREATE OR REPLACE MACRO task_facts(tasks) AS TABLE
SELECT
    *, task_of_wtas(task_started_tod, task_thread) AS token, CASE WHEN wtasaeot THEN wtasinte END AS ended,
    wtascmn::BIGINT + wtasban + wtasotn + coalesce(wtasprn, 0) + coalesce(wtassun, 0) + coalesce(wtassqn, 0)
        + coalesce(wtasctn, 0) + coalesce(wtasstn, 0) AS all_calls,
    of_all_verbs(wtascmet, wtasbaet, wtasotet, wtaspret, wtassuet, wtassqet, wtasctet, wtasstet)
        + coalesce(wtastpet, 0) AS all_elapsed,
    of_all_verbs(wtascmct, wtasbact, wtasotct, wtasprct, wtassuct, wtassqct, wtasctct, wtasstct)
        + coalesce(wtastpct, 0) AS all_cpu,
    of_all_verbs(
        timed(wtascmn, wtascmet), timed(wtasban, wtasbaet), timed(wtasotn, wtasotet), timed(wtasprn, wtaspret),
        timed(wtassun, wtassuet), timed(wtassqn, wtassqet), timed(wtasctn, wtasctet), timed(wtasstn, wtasstet)
    ) AS elapsed_of,
    of_all_verbs(
        timed(wtascmn, wtascmct), timed(wtasban, wtasbact), timed(wtasotn, wtasotct), timed(wtasprn, wtasprct),
        timed(wtassun, wtassuct), timed(wtassqn, wtassqct), timed(wtasctn, wtasctct), timed(wtasstn, wtasstct)
    ) AS cpu_of
FROM of_tasks(tasks);

-- The API calls in WTAS, which are about no queue, with all that is in the block.
CREATE OR REPLACE MACRO calls_of_tasks(tasks) AS TABLE
SELECT * EXCLUDE (call, elapsed_of, cpu_of), call.*
FROM (
    SELECT
        *,
        unnest([
            api_call('commit', wtascmn, wtascmet, wtascmct, NULL, NULL, NULL, NULL),
            api_call('backout', wtasban, wtasbaet, wtasbact, NULL, NULL, NULL, NULL),
            api_call('prepare', wtasprn, wtaspret, wtasprct, NULL, NULL, NULL, NULL),
            api_call('sub', wtassun, wtassuet, wtassuct, NULL, NULL, NULL, NULL),
            api_call('subrq', wtassqn, wtassqet, wtassqct, NULL, NULL, NULL, NULL),
            api_call('ctl', wtasctn, wtasctet, wtasctct, NULL, NULL, NULL, wtasctsr),
            api_call('stat', wtasstn, wtasstet, wtasstct, NULL, NULL, NULL, NULL),
            api_call('topic', NULL, wtastpet, wtastpct, NULL, NULL, NULL, NULL),
            api_call('other', wtasotn, wtasotet, wtasotct, NULL, NULL, NULL, NULL)
        ]) AS call
    FROM task_facts(tasks)
)
WHERE call.calls <> 0 OR call.elapsed <> 0 OR call.cpu <> 0;

-- The same of calls that are about no queue: one row per time and user.
CREATE OR REPLACE MACRO task_calls(tasks, users) AS TABLE
SELECT
    system, qmgr, start, seconds, job, coalesce("transaction", psb) AS "transaction",
    nullif(channel, '') AS channel,
    sum(wtascmn) AS commit_n, sum(wtasban) AS backout_n, sum(wtasprn) AS prepare_n, sum(wtassun) AS sub_n,
    sum(wtassqn) AS subrq_n, sum(wtasctn) AS ctl_n, sum(wtasstn) AS stat_n, NULL::BIGINT AS topic_n,
    sum(wtasotn) AS other_n,
    total(wtascmct) AS commit_cpu, total(wtasbact) AS backout_cpu, total(wtasprct) AS prepare_cpu,
    total(wtassuct) AS sub_cpu, total(wtassqct) AS subrq_cpu, total(wtasctct) AS ctl_cpu, total(wtasstct) AS stat_cpu,
    total(wtastpct) AS topic_cpu, total(wtasotct) AS other_cpu,
    total(wtascmet) AS commit_time, total(wtasbaet) AS backout_time, total(wtaspret) AS prepare_time,
    total(wtassuet) AS sub_time, total(wtassqet) AS subrq_time, total(wtasctet) AS ctl_time,
    total(wtasstet) AS stat_time, total(wtastpet) AS topic_time, total(wtasotet) AS other_time,
    sum(timed(wtascmn, wtascmet)) AS commit_of, sum(timed(wtasban, wtasbaet)) AS backout_of,
    sum(timed(wtasprn, wtaspret)) AS prepare_of, sum(timed(wtassun, wtassuet)) AS sub_of,
    sum(timed(wtassqn, wtassqet)) AS subrq_of, sum(timed(wtasctn, wtasctet)) AS ctl_of,
    sum(timed(wtasstn, wtasstet)) AS stat_of, NULL::BIGINT AS topic_of, sum(timed(wtasotn, wtasotet)) AS other_of,
    total(all_cpu) AS cpu, total(all_elapsed) AS elapsed
FROM (
    SELECT *, begin_of_row(interval_start, interval_seconds) AS start, seconds_of_row(interval_seconds) AS seconds
    FROM task_facts(tasks)
)
LEFT JOIN query_table(users) USING (of_source, task_record)
GROUP BY system, qmgr, start, seconds, job, coalesce("transaction", psb), channel;
