-- API-COST: the cost of the calls of each verb and their coupling facility requests, from class 3 accounting (WQST,
-- WTAS); the cost of all puts and gets together, from class 1 (QMAC), which has no verbs.
-- `line` is the kind of line of a row, `whose` the struct of grouping values.
WITH
-- No rows, so that WTID is not read, unless `by` contains a column of WTID.
identities AS (
    SELECT * FROM owners('sectioned.wtid')
    WHERE list_has_any(getvariable('by'), ['connection_type', 'job', 'user', 'transaction', 'channel'])
),
by_task AS (
    SELECT
        section, token, system, qmgr, verb,
        users_asked_for(
            system, qmgr, connection_type, job, "user", coalesce("transaction", psb), channel, queue,
            size_of(verb, putbytes, validput, getbytes, validget), counted_at
        ) AS whose,
        sum(calls)::BIGINT AS calls,
        known(elapsed, calls) AS elapsed, known(cpu, calls) AS cpu, known(log_wait, calls) AS log_wait,
        known(page_set_wait, calls) AS page_set_wait, known(suspended, calls) AS suspended,
        known(srb, calls) AS srb
    FROM api_calls('sectioned.wqst', 'sectioned.wtas')
    LEFT JOIN identities USING (of_source, task_record)
    -- Calls without a queue are omitted if queues are selected, because they may belong to other queues.
    WHERE queue IS NOT NULL OR NOT getvariable('of_queues')
    GROUP BY ALL
),
costs AS (
    SELECT
        section, whose, verb, count(*) AS tasks, sum(calls)::BIGINT AS calls,
        total(elapsed.us) AS elapsed, total(cpu.us) AS cpu, per_known(elapsed) AS call_elapsed,
        per_known(cpu) AS call_cpu, per_known(log_wait) AS call_log_wait,
        per_known(page_set_wait) AS call_page_set_wait, per_known(suspended) AS call_suspended,
        per_known(srb) AS call_srb,
        percentiles(cpu.us / nullif(cpu.calls, 0)) AS cpus,
        percentiles(elapsed.us / nullif(elapsed.calls, 0)) AS times
    FROM by_task
    GROUP BY GROUPING SETS ((section, whose, verb), (section))
),
cf AS (
    SELECT
        section,
        users_asked_for(
            system, qmgr, connection_type, job, "user", coalesce("transaction", psb), channel, queue,
            size_of(verb, putbytes, validput, getbytes, validget), counted_at
        ) AS whose,
        verb, request, sum(cfcount)::BIGINT AS cfcount, sum(cfsyncn)::BIGINT AS cfsyncn, sum(cfsyncet) AS sync,
        sum(cfasyncn)::BIGINT AS cfasyncn, sum(cfasyncet) AS async
    FROM cf_requests('sectioned.wqst_cf', 'sectioned.wtas_cf')
    LEFT JOIN (
        SELECT
            input_no, source, record_no, block_no, queue_of(objname, basename) AS queue,
            putbytes, validput, getbytes, validget
        FROM sectioned.wqst
        WHERE list_has_any(getvariable('by'), ['queue', 'size'])
    ) USING (input_no, source, record_no, block_no)
    LEFT JOIN identities USING (of_source, task_record)
    GROUP BY ALL
),
ranked AS (
    SELECT
        *, cf_sync / nullif(calls, 0) AS call_cf_sync, cf_async / nullif(calls, 0) AS call_cf_async,
        100 * cpu / nullif(total(cpu) OVER (PARTITION BY section), 0) AS cpu_share,
        100 * elapsed / nullif(total(elapsed) OVER (PARTITION BY section), 0) AS elapsed_share,
        row_number() OVER (
            PARTITION BY section
            ORDER BY CASE getvariable('sort') WHEN 'cpu' THEN cpu ELSE elapsed END DESC, whose, verb
        ) AS rank
    FROM costs
    LEFT JOIN (
        SELECT section, whose, verb, sum(sync) AS cf_sync, sum(async) AS cf_async FROM cf GROUP BY ALL
    ) USING (section, whose, verb)
    WHERE verb IS NOT NULL
),
-- Class 1 contains no channel, queue or message size.
class_3 AS (
    SELECT
        section, struct_update(whose, channel := NULL::VARCHAR, queue := NULL::VARCHAR, size := NULL::BIGINT) AS whose,
        total(cpu.us) AS class_3_cpu
    FROM by_task
    -- If queues are selected, the calls on other queues are missing, so class 3 cannot be compared with class 1.
    WHERE NOT getvariable('of_queues')
    GROUP BY ALL
),
class_1 AS (
    SELECT
        section,
        users_asked_for(
            system, qmgr, connection_type, job, "user", program, NULL::VARCHAR, NULL::VARCHAR, NULL::BIGINT, counted_at
        ) AS whose,
        measure(connection.connections) AS connections, measure(connection.messages) AS messages,
        total(connections.cpu) AS class_1_cpu, measure(connection.request_cpu) AS message_cpu,
        sum(COLUMNS('(qmac(put|get)[abcd])'))::BIGINT AS '\1',
        percentiles(connections.cpu / nullif(all_puts + all_gets, 0)) AS cpus
    FROM connection_facts('sectioned.qmac') AS connections
    GROUP BY ALL
),
of_tasks AS (
    SELECT
        section, struct_update(whose, queue := NULL::VARCHAR, size := NULL::BIGINT) AS whose,
        count(DISTINCT (system, qmgr, token)) AS tasks, sum(calls) / tasks AS task_calls,
        total(elapsed.us) / tasks AS task_elapsed, total(cpu.us) / tasks AS task_cpu,
        CASE getvariable('sort') WHEN 'cpu' THEN total(cpu.us) ELSE total(elapsed.us) END AS cost
    FROM by_task
    GROUP BY ALL
),
lines AS (
    SELECT 'verb' AS line, 1 AS part, * EXCLUDE (cf_sync, cf_async) FROM ranked
    UNION ALL BY NAME
    SELECT 'total' AS line, 2 AS part, section, calls, elapsed, cpu, call_elapsed, call_cpu
    FROM costs
    WHERE verb IS NULL
    UNION ALL BY NAME
    SELECT
        'task' AS line, 3 AS part, * EXCLUDE cost,
        row_number() OVER (PARTITION BY section ORDER BY cost DESC, whose) AS rank
    FROM of_tasks
    UNION ALL BY NAME
    SELECT
        'cf' AS line, 4 AS part, * EXCLUDE (sync, async), cf_request(request) AS request_name,
        sync / nullif(cfsyncn, 0) AS sync_average, async / nullif(cfasyncn, 0) AS async_average
    FROM cf
    WHERE getvariable('top') IS NULL
    UNION ALL BY NAME
    SELECT
        'class 1' AS line, 5 AS part, *,
        row_number() OVER (PARTITION BY section ORDER BY class_1_cpu DESC, whose) AS rank
    FROM class_1
    LEFT JOIN class_3 USING (section, whose)
)
SELECT
    lines.* EXCLUDE (whose, cpus, times, elapsed, cpu, class_1_cpu, class_3_cpu, request), unnest(whose),
    verb_order(verb) AS verb_order, request AS request_number,
    cpu / 1e6 AS cpu_seconds, elapsed / 1e6 AS elapsed_seconds,
    cpus[1] AS cpu_p50, cpus[2] AS cpu_p90, cpus[3] AS cpu_p99,
    times[1] AS elapsed_p50, times[2] AS elapsed_p90, times[3] AS elapsed_p99,
    class_1_cpu / 1e6 AS class_1_cpu_seconds, class_3_cpu / 1e6 AS class_3_cpu_seconds,
    100 * (class_1_cpu / nullif(class_3_cpu, 0) - 1) AS class_difference
FROM lines
WHERE getvariable('top') IS NULL OR coalesce(rank <= getvariable('top'), TRUE)
