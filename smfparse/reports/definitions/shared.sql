-- SHARED: shared queues over the members of a queue-sharing group. `line` is the kind of line of a row:
--   structure  calls to a structure of the coupling facility by all members (QEST), how full it was, and its
--              shared message data sets (QESD)
--   queue      what calls on a shared queue asked the coupling facility for (WQST, CFSTAT)
-- The group of a queue manager is that of QCCT, where the record does not say it, else the option `qsg`. Structures of
-- one name in two groups are two.
WITH
groups AS (
    FROM told_groups('sectioned.qcct')
),
calls AS (
    SELECT
        q.*, group_of(q.qsg, told_qsg) AS known_qsg,
        coalesce(known_qsg, q.system || '/' || q.qmgr) AS place
    FROM sectioned.qest AS q
    LEFT JOIN groups ON groups.system = q.system AND groups.qmgr = q.qmgr
),
data_sets AS (
    SELECT
        section, system, qmgr, qesdstr AS structure,
        arg_max(100 * qesdsmbu::DOUBLE / nullif(qesdsmbd, 0), sequence) AS smds_used,
        sum(qesdsmfl)::BIGINT AS smds_full,
        100 * sum(qesdbfgl)::DOUBLE / nullif(sum(qesdbfgb), 0) AS buffers_stolen,
        sum(qesdbfgn)::BIGINT AS no_buffer
    FROM sectioned.qesd
    GROUP BY ALL
),
members AS (
    SELECT
        section, place, system, qmgr, qeststr AS structure,
        sum(qestcsec)::BIGINT AS single_calls, sum(qestcmec)::BIGINT AS multiple_calls,
        total(qestsstc) AS single_time, total(qestmstc) AS multiple_time,
        sum(qestrsec)::BIGINT AS single_redrives, sum(qestrmec)::BIGINT AS multiple_redrives,
        sum(qestsful)::BIGINT AS full_count, max(qestmnus) AS entries, max(qestmlus) AS elements,
        total(interval_seconds) AS seconds
    FROM calls
    GROUP BY ALL
),
structures AS (
    SELECT
        section, place, structure, count(*) AS members,
        sum(single_calls)::BIGINT AS single_calls, sum(multiple_calls)::BIGINT AS multiple_calls,
        total(single_calls + multiple_calls) AS calls, total((single_calls + multiple_calls) / nullif(seconds, 0)) AS call_rate,
        total(single_time) / nullif(sum(single_calls), 0) AS single_us,
        total(multiple_time) / nullif(sum(multiple_calls), 0) AS multiple_us,
        100 * sum(single_redrives) / nullif(sum(single_calls), 0) AS single_redriven,
        100 * sum(multiple_redrives) / nullif(sum(multiple_calls), 0) AS multiple_redriven,
        sum(full_count)::BIGINT AS full_count, max(entries) AS entries, max(elements) AS elements,
        max(smds_used) AS smds_used, sum(smds_full)::BIGINT AS smds_full,
        max(buffers_stolen) AS buffers_stolen, sum(no_buffer)::BIGINT AS no_buffer
    FROM members
    LEFT JOIN data_sets USING (section, system, qmgr, structure)
    GROUP BY ALL
),
uses AS (
    SELECT * FROM queue_uses('sectioned.wqst', 'sectioned.wtid', 'sectioned.qcct', FALSE) WHERE is_shared
),
of_queues AS (
    SELECT
        section, place, structure, queue, count(DISTINCT (system, qmgr)) AS members,
        sum(puts)::BIGINT AS puts, sum(gets)::BIGINT AS gets, sum(opens)::BIGINT AS opens,
        sum(put_direct)::BIGINT AS put_direct, sum(put_by_agent)::BIGINT AS put_by_agent,
        sum(opens_without)::BIGINT AS opens_without
    FROM uses
    GROUP BY ALL
),
requests AS (
    SELECT
        c.section, group_of(w.qsg, told_qsg) AS known_qsg,
        coalesce(known_qsg, c.system || '/' || c.qmgr) AS place,
        queue_of(objname, basename) AS queue, cf_request(request) AS name,
        sum(cfcount)::BIGINT AS count,
        sum(cfsyncn)::BIGINT AS sync_count, sum(cfsyncet)::DOUBLE AS sync_time,
        sum(cfasyncn)::BIGINT AS async_count, sum(cfasyncet)::DOUBLE AS async_time
    FROM sectioned.wqst_cf AS c
    JOIN (
        SELECT input_no, source, record_no, block_no, qsg, objname, basename
        FROM sectioned.wqst
        WHERE cfstrucname <> ''
    ) AS w USING (input_no, source, record_no, block_no)
    LEFT JOIN groups ON groups.system = c.system AND groups.qmgr = c.qmgr
    GROUP BY ALL
),
by_queue AS (
    SELECT
        section, place, queue,
        sum(count)::BIGINT AS cf_requests,
        sum(count) FILTER (name = 'Read')::BIGINT AS reads,
        sum(count) FILTER (name = 'Read list')::BIGINT AS list_reads,
        sum(count) FILTER (name = 'New')::BIGINT AS news,
        sum(count) FILTER (name IN ('Move', 'MoveEnt'))::BIGINT AS moves,
        sum(count) FILTER (name = 'Write')::BIGINT AS writes,
        sum(count) FILTER (name = 'Delete')::BIGINT AS deletes,
        100 * sum(async_count) / nullif(sum(sync_count) + sum(async_count), 0) AS async_share,
        total(sync_time) / nullif(sum(sync_count), 0) AS sync_us,
        total(async_time) / nullif(sum(async_count), 0) AS async_us
    FROM requests
    GROUP BY ALL
)
SELECT 'structure' AS line, * FROM structures WHERE NOT getvariable('of_queues')
UNION ALL BY NAME
SELECT
    'queue' AS line, *,
    list_reads / nullif(moves, 0) AS reads_a_move,
    100 * opens_without / nullif(opens, 0) AS open_without_share
FROM of_queues
LEFT JOIN by_queue USING (section, place, queue)
