-- TASK: the calls of each task, in total and by queue, from class 3 accounting (WTID, WTAS, WQST), with latches and
-- coupling facility requests. `line` is the kind of line of a row. A task is identified by its token in WTAS and WQST:
-- start of the task (TOD microseconds) and two addresses. A WTID has no token: it belongs to the WTAS of its 116/1
-- record or, in a 116/2 record without WTAS, to the WQST of this record.
WITH
latches(latch, latch_name) AS (
    VALUES
    (11, 'DMCSEG: queue serialisation'), (12, 'buffer pool'),
    (15, 'CMXL1: first open / last close of a shared queue'), (16, 'BMXL2: page set'),
    (19, 'BMXL3: buffer page'), (21, 'RLMLWR: log buffer'), (23, 'BSDS'),
    (24, 'LMXL1: waiting getters'), (25, 'locks, accounting'),
    (30, 'ASMSAG: task switch, security'), (31, 'DPSLTC: scan of un-indexed queue, storage'),
    (32, 'SMCPHB: storage pools')
),
links AS (
    SELECT input_no, source, record_no, of_source, task_record, token FROM task_facts('sectioned.wtas')
),
queue_links AS (
    SELECT input_no, source, record_no, min(task_of_wqst(correl)) AS token
    FROM sectioned.wqst
    GROUP BY ALL
),
named AS (
    SELECT i.section, coalesce(l.token, q.token) AS token, figures_of_wtid
    FROM identity_facts('sectioned.wtid') AS i
    LEFT JOIN links AS l USING (of_source, task_record)
    LEFT JOIN queue_links AS q
        ON q.input_no = i.input_no AND q.source = i.source AND q.record_no = i.record_no
    QUALIFY row_number() OVER (
        PARTITION BY i.section, coalesce(l.token, q.token)
        ORDER BY i.task_record_offset IS NULL OR i.task_record_no = i.record_no DESC NULLS FIRST, i.sequence DESC
    ) = 1
),
queues AS MATERIALIZED (SELECT section, task_of_wqst(correl) AS token, basename, figures_of_wqst FROM grouped.wqst),
used AS (
    SELECT
        section, token, count(DISTINCT (objname, basename)) AS task_queues,
        sum(queue_requests)::BIGINT AS task_requests,
        total(queue_elapsed) AS elapsed, total(queue_cpu) AS cpu
    FROM queues
    GROUP BY ALL
),
accounted AS (
    SELECT
        section, task_of_wtas(task_started_tod, task_thread) AS token, elapsed AS its_elapsed, cpu AS its_cpu,
        figures_of_wtas
    FROM grouped.wtas
),
tasks AS (
    SELECT
        section, token, w.* EXCLUDE (section, token, its_elapsed, its_cpu),
        of_whole_task(coalesce(u.task_queues, 0)) AS task_queues,
        of_whole_task(coalesce(u.task_requests, 0)) AS task_requests,
        of_whole_task(coalesce(its_elapsed, 0) + coalesce(u.elapsed, 0)) AS task_elapsed,
        of_whole_task(coalesce(its_cpu, 0) + coalesce(u.cpu, 0)) AS task_cpu
    FROM (SELECT section, token FROM named) AS n
    FULL JOIN accounted AS w USING (section, token)
    LEFT JOIN used AS u USING (section, token)
),
waits AS (
    SELECT t.section, l.token, t.latch, any_value(latch_name) AS latch_name, measures_of_latch
    FROM sectioned.wtas_latch AS t
    JOIN links AS l USING (input_no, source, record_no)
    LEFT JOIN latches USING (latch)
    GROUP BY ALL
),
cf_requests AS (
    SELECT
        t.section, l.token, t.phase AS verb, NULL AS objname, NULL AS basename, t.request,
        cfcount, cfsyncn, cfsyncet, cfasyncn, cfasyncet
    FROM sectioned.wtas_cf AS t
    JOIN links AS l USING (input_no, source, record_no)
    UNION ALL
    SELECT
        t.section, task_of_wqst(correl), t.verb,
        q.objname, q.basename, t.request, cfcount, cfsyncn, cfsyncet, cfasyncn, cfasyncet
    FROM sectioned.wqst_cf AS t
    JOIN sectioned.wqst AS q USING (input_no, source, record_no, block_no)
),
cf AS (
    SELECT
        section, token, objname, basename, nullif(basename, objname) AS base,
        100 * list_position(['commit', 'prepare', 'open', 'close', 'get', 'put', 'put1'], verb)
            + request AS detail,
        upper(verb[1]) || verb[2:] || ' CF '
            || cf_request(request) AS cf_request,
        sum(cfcount)::BIGINT AS cfcount,
        sum(cfsyncn)::BIGINT AS cfsyncn, sum(cfsyncet) / nullif(sum(cfsyncn), 0) AS cf_sync,
        sum(cfasyncn)::BIGINT AS cfasyncn, sum(cfasyncet) / nullif(sum(cfasyncn), 0) AS cf_async
    FROM cf_requests
    GROUP BY section, token, objname, basename, verb, request
),
lines AS (
    SELECT 'task' AS line, 1 AS part, NULL AS detail, * FROM tasks
    UNION ALL BY NAME
    SELECT 'latch' AS line, 2 AS part, latch AS detail, * FROM waits
    UNION ALL BY NAME
    SELECT 'cf' AS line, 3 AS part, * FROM cf WHERE objname IS NULL
    UNION ALL BY NAME
    SELECT 'queue' AS line, 4 AS part, * FROM queues
    UNION ALL BY NAME
    SELECT 'queue cf' AS line, 5 AS part, * FROM cf WHERE objname IS NOT NULL
)
SELECT lines.*, named.* EXCLUDE (section, token)
FROM lines
LEFT JOIN named USING (section, token)
