-- What a task did in an interval beside its calls on queues: WTAS, and what stands in several of its fields. See
-- queue_use_facts.
CREATE OR REPLACE MACRO task_facts(tasks) AS TABLE
SELECT
    *, coalesce(task_source, source) AS of_source, coalesce(task_record_offset, record_offset) AS task_record,
    task_of_wtas(task_started_tod, task_thread) AS token, CASE WHEN wtasaeot THEN wtasinte END AS ended,
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
FROM query_table(tasks);
