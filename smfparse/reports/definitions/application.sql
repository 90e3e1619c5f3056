-- APPLICATION: an application (a job, a channel or a transaction) on one page. `line` is the kind of line of a row:
--   application  tasks, calls, messages and units of work of the application
--   time         a part of the time of its calls
--   verb         its calls of a verb
--   transaction  its calls in a CICS transaction or an IMS program
--   queue        its calls on a queue
--   user         another user of one of its queues
--   finding      a finding of `check` about the application or one of its queues; the columns are empty here
-- The variables `job`, `channel` and `transaction` select the application: regular expressions; '': not given.
WITH
tasks AS (
    SELECT
        of_source, task_record, job, nullif(channel, '') AS channel, connection_type, "user",
        coalesce("transaction", psb) AS program,
        CASE WHEN getvariable('transaction') <> '' THEN program END AS "transaction",
        CASE
            WHEN getvariable('transaction') <> '' THEN program
            WHEN getvariable('channel') <> '' THEN channel
            ELSE job
        END AS application
    FROM owners('sectioned.wtid')
    WHERE application <> ''
        AND (getvariable('transaction') = '' OR regexp_full_match(program, getvariable('transaction')))
        AND (getvariable('job') = '' OR regexp_full_match(job, getvariable('job')))
        AND (getvariable('channel') = '' OR regexp_full_match(channel, getvariable('channel')))
),
task_intervals AS (
    SELECT w.*, application, program, connection_type, "user"
    FROM task_facts('sectioned.wtas') AS w
    JOIN tasks USING (of_source, task_record)
),
intervals AS (
    SELECT
        section, system, qmgr, application,
        string_agg(DISTINCT connection_type, ', ' ORDER BY connection_type) AS connection_type,
        count(DISTINCT "user") AS users, min("user") AS "user",
        count(DISTINCT token) AS tasks,
        total(interval_seconds) AS task_seconds,
        measure(task.commits) AS commits, measure(task.backouts) AS backouts, measure(task.ctls) AS control_calls,
        measure(task.log_write_wait) AS log_write, measure(task.log_force_wait) AS log_force,
        measure(task.log_wait) AS log, measure(task.other_wait) AS suspended,
        measure(task.db2_elapsed) AS db2, measure(task.smds_wait) AS data_sets
    FROM task_intervals
    GROUP BY ALL
),
calls AS (
    SELECT section, system, qmgr, application, program, verb, calls, elapsed, cpu, page_set_wait
    FROM api_calls('sectioned.wqst', 'sectioned.wtas')
    JOIN tasks USING (of_source, task_record)
    -- Calls without a queue are omitted if queues are selected, because they may belong to other queues.
    WHERE queue IS NOT NULL OR NOT getvariable('of_queues')
),
cf AS (
    SELECT
        section, system, qmgr, application, total(cfsyncet) AS cf_sync, total(cfasyncet) AS cf_async
    FROM cf_requests('sectioned.wqst_cf', 'sectioned.wtas_cf')
    JOIN tasks USING (of_source, task_record)
    GROUP BY ALL
),
verbs AS (
    SELECT section, system, qmgr, application, verb, unnest(call_sums(calls, elapsed, cpu))
    FROM calls
    GROUP BY section, system, qmgr, application, verb
),
transactions AS (
    SELECT * FROM (
        SELECT section, system, qmgr, application, program, unnest(call_sums(calls, elapsed, cpu))
        FROM calls
        WHERE program IS NOT NULL AND getvariable('transaction') = ''
        GROUP BY section, system, qmgr, application, program
    )
    LEFT JOIN (
        SELECT section, system, qmgr, application, program, count(DISTINCT token) AS tasks
        FROM task_intervals
        GROUP BY ALL
    ) USING (section, system, qmgr, application, program)
),
uses AS (
    SELECT * FROM queue_uses(
        'sectioned.wqst', 'sectioned.wtid', 'sectioned.qcct', getvariable('transaction') <> ''
    )
),
own_uses AS (
    SELECT uses.*, application
    FROM uses
    JOIN (SELECT DISTINCT job, channel, "transaction", application FROM tasks) AS own
        ON own.job = uses.job AND own.channel IS NOT DISTINCT FROM uses.channel
        AND own."transaction" IS NOT DISTINCT FROM uses."transaction"
),
queues AS (
    SELECT
        section, system, qmgr, application, place, queue,
        any_value(structure) AS structure,
        string_agg(DISTINCT opened_as, ', ' ORDER BY opened_as) AS opened_as,
        sum(COLUMNS('^(opens|puts|gets|browses|persistent_puts|got|timed_gets)$'))::BIGINT AS '\1',
        total(COLUMNS('^(put_bytes|get_bytes|cpu|elapsed|time_on_queue)$')) AS '\1', max(deepest) AS deepest
    FROM own_uses
    GROUP BY ALL
),
totals AS (
    SELECT
        section, system, qmgr, application, unnest(call_sums(calls, elapsed, cpu)),
        total(page_set_wait) AS page_sets
    FROM calls
    GROUP BY section, system, qmgr, application
),
moved AS (
    SELECT
        section, system, qmgr, application, sum(puts)::BIGINT AS puts, sum(gets)::BIGINT AS gets,
        sum(browses)::BIGINT AS browses, total(put_bytes) / 1048576 AS mb_put, total(get_bytes) / 1048576 AS mb_taken
    FROM queues
    GROUP BY ALL
),
applications AS (
    SELECT
        * EXCLUDE (task_seconds, commits, backouts, control_calls, users, "user"),
        CASE
            WHEN getvariable('transaction') <> '' THEN 'transaction'
            WHEN getvariable('channel') <> '' THEN 'channel'
            ELSE 'job'
        END AS kind,
        CASE WHEN users > 1 THEN users || ' users' ELSE "user" END AS "user",
        of_whole_task(task_seconds) AS task_seconds, of_whole_task(commits) AS commits,
        of_whole_task(backouts) AS backouts, of_whole_task(control_calls) AS control_calls
    FROM totals
    LEFT JOIN intervals USING (section, system, qmgr, application)
    LEFT JOIN moved USING (section, system, qmgr, application)
    LEFT JOIN cf USING (section, system, qmgr, application)
),
times AS (
    SELECT section, system, qmgr, application, elapsed AS all_elapsed, unnest([
        {'part': 'CPU', 'us': cpu},
        {'part': 'forced log writes', 'us': of_whole_task(log_force)},
        {'part': 'log writes', 'us': of_whole_task(log_write)},
        {'part': 'page sets', 'us': page_sets},
        {'part': 'suspended otherwise', 'us': of_whole_task(suspended)},
        {'part': 'coupling facility, synchronous', 'us': cf_sync},
        {'part': 'coupling facility, asynchronous', 'us': cf_async},
        {'part': 'Db2', 'us': of_whole_task(db2)},
        {'part': 'shared message data sets', 'us': of_whole_task(data_sets)},
        {'part': 'the rest: dispatching, latches', 'us': of_whole_task(greatest(
            elapsed - cpu - coalesce(log, 0) - coalesce(page_sets, 0) - coalesce(suspended, 0), 0
        ))}
    ], recursive := true)
    FROM applications
),
others AS (
    SELECT
        q.section, q.system, q.qmgr, q.application, q.place, q.queue,
        u.system AS other_system, u.qmgr AS other_qmgr, u.job AS other_job,
        u.channel AS other_channel, u."transaction" AS other_transaction, u.connection_type,
        sum(u.opens)::BIGINT AS opens, sum(u.puts)::BIGINT AS puts, sum(u.gets)::BIGINT AS gets,
        sum(u.browses)::BIGINT AS browses, total(u.cpu) AS cpu
    FROM queues AS q
    JOIN uses AS u ON u.section = q.section AND u.place = q.place AND u.queue = q.queue
    ANTI JOIN own_uses AS o
        ON o.section = q.section AND o.application = q.application
        AND o.system = u.system AND o.qmgr = u.qmgr AND o.job = u.job
        AND o.channel IS NOT DISTINCT FROM u.channel
        AND o."transaction" IS NOT DISTINCT FROM u."transaction"
        AND o.system = q.system AND o.qmgr = q.qmgr
    GROUP BY ALL
)
SELECT
    lines.* EXCLUDE (
        cpu, elapsed, all_elapsed, us, put_bytes, get_bytes, got, time_on_queue, timed_gets
    ),
    list_position(['application', 'time', 'verb', 'transaction', 'queue', 'user'], line) AS line_order,
    coalesce(us, elapsed) / 1e6 AS elapsed_seconds, cpu / 1e6 AS cpu_seconds,
    100 * elapsed / nullif(task_seconds * 1e6, 0) AS mq_share,
    100 * us / nullif(all_elapsed, 0) AS time_share,
    put_bytes / nullif(puts, 0) AS put_size, get_bytes / nullif(got, 0) AS get_size,
    time_on_queue / nullif(timed_gets, 0) / 1000 AS on_queue_ms,
    NULL::INTEGER AS severity, NULL::VARCHAR AS rule, NULL::VARCHAR AS finding,
    NULL::VARCHAR AS object, NULL::TIMESTAMP AS first_at, NULL::TIMESTAMP AS last_at,
    NULL::DOUBLE AS crossed_share
FROM (
    SELECT 'application' AS line, * EXCLUDE (
        log_write, log_force, log, suspended, db2, data_sets, page_sets, cf_sync, cf_async
    )
    FROM applications
    UNION ALL BY NAME
    SELECT 'time' AS line, * FROM times WHERE us > 0
    UNION ALL BY NAME
    SELECT 'verb' AS line, * FROM verbs
    UNION ALL BY NAME
    SELECT 'transaction' AS line, * FROM transactions
    UNION ALL BY NAME
    SELECT 'queue' AS line, * FROM queues
    UNION ALL BY NAME
    SELECT 'user' AS line, * FROM others
) AS lines
QUALIFY getvariable('top') IS NULL
    OR line IN ('application', 'time')
    OR row_number() OVER (
        PARTITION BY section, system, qmgr, application, line
        ORDER BY cpu DESC, queue, place, verb, program, other_system, other_qmgr, other_job,
            other_channel, other_transaction
    ) <= getvariable('top')
