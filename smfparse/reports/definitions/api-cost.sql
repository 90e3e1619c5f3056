-- API-COST: what the calls of each verb cost, from class 3 accounting (WQST, WTAS); requests to the
-- coupling facility in them; and from class 1 (QMAC), which has puts and gets together, without verbs.
-- `line` is the kind of line of a row.
WITH
calls AS (
    SELECT * FROM calls_of_queues('sectioned.wqst')
    UNION ALL BY NAME
    -- Calls of tasks are about no queue: where queues are selected it is not known whose they are.
    SELECT * FROM calls_of_tasks('sectioned.wtas') WHERE NOT getvariable('of_queues')
),
-- Nobody's, and not read, where nobody asked whose calls they are.
identities AS (
    SELECT * FROM owners('sectioned.wtid')
    WHERE list_has_any(getvariable('by'), ['connection_type', 'job', 'user', 'transaction', 'channel'])
),
by_task AS (
    SELECT
        section, token, system AS of_system, qmgr AS of_qmgr,
        asked_for('system', system) AS system, asked_for('qmgr', qmgr) AS qmgr,
        asked_for('connection_type', connection_type) AS connection_type,
        asked_for('job', job) AS job, asked_for('user', "user") AS "user",
        asked_for('transaction', coalesce("transaction", psb)) AS "transaction",
        asked_for('channel', channel) AS channel, asked_for('queue', queue) AS queue,
        asked_for('size', size_of(verb, putbytes, validput, getbytes, validget)) AS size,
        asked_for('hour', date_trunc('hour', counted_at)) AS hour, verb,
        sum(calls)::BIGINT AS calls, total(elapsed) AS elapsed, total(cpu) AS cpu,
        sum(elapsed_of) AS elapsed_of, sum(cpu_of) AS cpu_of,
        total(log_wait) AS log_wait, sum(calls) FILTER (log_wait IS NOT NULL) AS log_wait_of,
        total(page_set_wait) AS page_set_wait,
        sum(calls) FILTER (page_set_wait IS NOT NULL) AS page_set_wait_of,
        total(suspended) AS suspended, sum(calls) FILTER (suspended IS NOT NULL) AS suspended_of,
        total(srb) AS srb, sum(calls) FILTER (srb IS NOT NULL) AS srb_of
    FROM calls
    LEFT JOIN identities USING (of_source, task_record)
    GROUP BY ALL
),
costs AS (
    SELECT
        section, system, qmgr, connection_type, job, "user", "transaction", channel, queue, size, hour, verb,
        count(*) AS tasks,
        sum(calls)::BIGINT AS calls, total(elapsed) AS elapsed, total(cpu) AS cpu,
        sum(elapsed_of) AS elapsed_of, sum(cpu_of) AS cpu_of,
        total(log_wait) AS log_wait, sum(log_wait_of) AS log_wait_of,
        total(page_set_wait) AS page_set_wait, sum(page_set_wait_of) AS page_set_wait_of,
        total(suspended) AS suspended, sum(suspended_of) AS suspended_of,
        total(srb) AS srb, sum(srb_of) AS srb_of,
        percentiles(cpu / nullif(cpu_of, 0)) AS cpus,
        percentiles(elapsed / nullif(elapsed_of, 0)) AS times
    FROM by_task
    GROUP BY ALL
),
ranked AS (
    SELECT
        *,
        100 * cpu / nullif(total(cpu) OVER (PARTITION BY section), 0) AS cpu_share,
        100 * elapsed / nullif(total(elapsed) OVER (PARTITION BY section), 0) AS elapsed_share,
        row_number() OVER (
            PARTITION BY section
            ORDER BY CASE getvariable('sort') WHEN 'cpu' THEN cpu ELSE elapsed END DESC,
                system, qmgr, connection_type, job, "user", "transaction", channel, queue, size, hour, verb
        ) AS rank
    FROM costs
),
cf_requests AS (
    SELECT
        section, of_source, task_record, system, qmgr, date_trunc('hour', counted_at) AS hour,
        queue, size_of(verb, putbytes, validput, getbytes, validget) AS size,
        verb, request, cfcount, cfsyncn, cfsyncet, cfasyncn, cfasyncet
    FROM of_tasks('sectioned.wqst_cf')
    LEFT JOIN (
        SELECT
            input_no, source, record_no, block_no, queue_of(objname, basename) AS queue,
            putbytes, validput, getbytes, validget
        FROM sectioned.wqst
        WHERE list_has_any(getvariable('by'), ['queue', 'size'])
    ) USING (input_no, source, record_no, block_no)
    UNION ALL BY NAME
    SELECT
        section, of_source, task_record, system, qmgr, date_trunc('hour', counted_at) AS hour,
        phase AS verb, request, cfcount, cfsyncn, cfsyncet, cfasyncn, cfasyncet
    FROM of_tasks('sectioned.wtas_cf')
    WHERE NOT getvariable('of_queues')
),
cf AS (
    SELECT
        section,
        asked_for('system', system) AS system, asked_for('qmgr', qmgr) AS qmgr,
        asked_for('connection_type', connection_type) AS connection_type,
        asked_for('job', job) AS job, asked_for('user', "user") AS "user",
        asked_for('transaction', coalesce("transaction", psb)) AS "transaction",
        asked_for('channel', channel) AS channel, asked_for('queue', queue) AS queue,
        asked_for('size', size) AS size, asked_for('hour', hour) AS hour, verb, request,
        sum(cfcount)::BIGINT AS cfcount,
        sum(cfsyncn)::BIGINT AS cfsyncn, sum(cfsyncet) AS sync,
        sum(cfasyncn)::BIGINT AS cfasyncn, sum(cfasyncet) AS async
    FROM cf_requests
    LEFT JOIN identities USING (of_source, task_record)
    GROUP BY ALL
),
cf_costs AS (
    SELECT
        section, system, qmgr, connection_type, job, "user", "transaction", channel, queue, size, hour, verb,
        sum(sync) AS cf_sync, sum(async) AS cf_async
    FROM cf
    GROUP BY ALL
),
chosen AS (
    SELECT ranked.*, cf_sync, cf_async
    FROM ranked
    LEFT JOIN cf_costs AS f
        ON ranked.section = f.section AND ranked.verb = f.verb
        AND ranked.system IS NOT DISTINCT FROM f.system
        AND ranked.qmgr IS NOT DISTINCT FROM f.qmgr
        AND ranked.connection_type IS NOT DISTINCT FROM f.connection_type
        AND ranked.job IS NOT DISTINCT FROM f.job
        AND ranked."user" IS NOT DISTINCT FROM f."user"
        AND ranked."transaction" IS NOT DISTINCT FROM f."transaction"
        AND ranked.channel IS NOT DISTINCT FROM f.channel
        AND ranked.queue IS NOT DISTINCT FROM f.queue
        AND ranked.size IS NOT DISTINCT FROM f.size
        AND ranked.hour IS NOT DISTINCT FROM f.hour
    WHERE getvariable('top') IS NULL OR rank <= getvariable('top')
),
connections AS (
    SELECT
        section,
        asked_for('system', system) AS system, asked_for('qmgr', qmgr) AS qmgr,
        asked_for('connection_type', connection_of(qwhcatyp_text)) AS connection_type,
        asked_for('job', qwhccn) AS job, asked_for('user', qwhcopid) AS "user",
        asked_for('transaction', coalesce("transaction", psb)) AS "transaction",
        asked_for('hour', date_trunc('hour', counted_at)) AS hour,
        qmaccput, qmacputa, qmacputb, qmacputc, qmacputd, qmacgeta, qmacgetb, qmacgetc, qmacgetd,
        qmacputa::BIGINT + qmacputb + qmacputc + qmacputd
            + qmacgeta + qmacgetb + qmacgetc + qmacgetd AS messages
    FROM sectioned.qmac
),
class_3 AS (
    SELECT section, system, qmgr, connection_type, job, "user", "transaction", hour, total(cpu) AS class_3_cpu
    FROM by_task
    -- Where queues are selected the other calls of tasks are not known.
    WHERE NOT getvariable('of_queues')
    GROUP BY ALL
),
of_tasks AS (
    SELECT
        section, system, qmgr, connection_type, job, "user", "transaction", channel, hour,
        count(DISTINCT (of_system, of_qmgr, token)) AS tasks, sum(calls) / tasks AS task_calls,
        total(elapsed) / tasks AS task_elapsed, total(cpu) / tasks AS task_cpu,
        CASE getvariable('sort') WHEN 'cpu' THEN total(cpu) ELSE total(elapsed) END AS cost
    FROM by_task
    GROUP BY ALL
),
class_1 AS (
    SELECT
        section, system, qmgr, connection_type, job, "user", "transaction", hour,
        count(*) AS connections,
        sum(messages)::BIGINT AS messages, total(qmaccput) AS class_1_cpu,
        percentiles(qmaccput / nullif(messages, 0)) AS cpus,
        sum(qmacputa)::BIGINT AS qmacputa, sum(qmacputb)::BIGINT AS qmacputb,
        sum(qmacputc)::BIGINT AS qmacputc, sum(qmacputd)::BIGINT AS qmacputd,
        sum(qmacgeta)::BIGINT AS qmacgeta, sum(qmacgetb)::BIGINT AS qmacgetb,
        sum(qmacgetc)::BIGINT AS qmacgetc, sum(qmacgetd)::BIGINT AS qmacgetd
    FROM connections
    GROUP BY ALL
),
lines AS (
    SELECT 'verb' AS line, 1 AS part, * FROM chosen
    UNION ALL BY NAME
    SELECT
        'total' AS line, 2 AS part, section, sum(calls)::BIGINT AS calls,
        total(elapsed) AS elapsed, total(cpu) AS cpu,
        sum(elapsed_of) AS elapsed_of, sum(cpu_of) AS cpu_of
    FROM costs
    GROUP BY section
    UNION ALL BY NAME
    SELECT
        'task' AS line, 3 AS part, * EXCLUDE cost,
        row_number() OVER (
            PARTITION BY section
            ORDER BY cost DESC, system, qmgr, connection_type, job, "user", "transaction", channel, hour
        ) AS rank
    FROM of_tasks
    QUALIFY getvariable('top') IS NULL OR rank <= getvariable('top')
    UNION ALL BY NAME
    SELECT
        'cf' AS line, 4 AS part, cf.*, cf_request(request) AS request_name,
        sync / nullif(cfsyncn, 0) AS sync_average, async / nullif(cfasyncn, 0) AS async_average
    FROM cf
    WHERE getvariable('top') IS NULL
    UNION ALL BY NAME
    SELECT
        'class 1' AS line, 5 AS part, a.*, class_3_cpu,
        row_number() OVER (
            PARTITION BY a.section
            ORDER BY class_1_cpu DESC, a.system, a.qmgr, a.connection_type, a.job, a."user", a."transaction", a.hour
        ) AS rank
    FROM class_1 AS a
    LEFT JOIN class_3 AS b
        ON a.section = b.section
        AND a.system IS NOT DISTINCT FROM b.system
        AND a.qmgr IS NOT DISTINCT FROM b.qmgr
        AND a.connection_type IS NOT DISTINCT FROM b.connection_type
        AND a.job IS NOT DISTINCT FROM b.job
        AND a."user" IS NOT DISTINCT FROM b."user"
        AND a."transaction" IS NOT DISTINCT FROM b."transaction"
        AND a.hour IS NOT DISTINCT FROM b.hour
    QUALIFY getvariable('top') IS NULL OR rank <= getvariable('top')
)
SELECT
    lines.* EXCLUDE (cpus, times, elapsed, cpu, elapsed_of, cpu_of, log_wait, log_wait_of,
        page_set_wait, page_set_wait_of, suspended, suspended_of, srb, srb_of, cf_sync, cf_async, sync, async, class_1_cpu, class_3_cpu, request),
    verb_order(verb) AS verb_order, request AS request_number,
    cpu / nullif(cpu_of, 0) AS call_cpu, elapsed / nullif(elapsed_of, 0) AS call_elapsed,
    cpu / 1e6 AS cpu_seconds, elapsed / 1e6 AS elapsed_seconds,
    log_wait / nullif(log_wait_of, 0) AS call_log_wait,
    page_set_wait / nullif(page_set_wait_of, 0) AS call_page_set_wait,
    suspended / nullif(suspended_of, 0) AS call_suspended,
    cf_sync / nullif(calls, 0) AS call_cf_sync, cf_async / nullif(calls, 0) AS call_cf_async,
    srb / nullif(srb_of, 0) AS call_srb,
    cpus[1] AS cpu_p50, cpus[2] AS cpu_p90, cpus[3] AS cpu_p99,
    times[1] AS elapsed_p50, times[2] AS elapsed_p90, times[3] AS elapsed_p99,
    class_3_cpu / 1e6 AS class_3_cpu_seconds,
    100 * (class_1_cpu / nullif(class_3_cpu, 0) - 1) AS class_difference,
    class_1_cpu / 1e6 AS class_1_cpu_seconds, class_1_cpu / nullif(messages, 0) AS message_cpu
FROM lines
