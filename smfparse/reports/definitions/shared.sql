-- SHARED: shared queues of all members of a queue-sharing group. `line` is the kind of line of a row:
--   structure  requests of all members to a coupling facility structure (QEST), its use, and its shared message data
--              sets (QESD)
--   queue      coupling facility requests of the calls on a shared queue (WQST, CFSTAT)
-- The group of a queue manager comes from `group_of`. Structures with the same name in two groups are different.
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
        key.*, blocks_used AS smds_used, times_full AS smds_full, gets_stolen AS buffers_stolen, gets_failed AS no_buffer
    FROM smds_by('sectioned.qesd', {'section': section, 'system': system, 'qmgr': qmgr, 'structure': object})
),
-- The rates of each member are divided by its own time; each member has its own data set.
members AS (
    SELECT
        section, place, structure, count(*) AS members, total(requests_per_second) AS call_rate,
        max(smds_used) AS smds_used, sum(smds_full)::BIGINT AS smds_full,
        max(buffers_stolen) AS buffers_stolen, sum(no_buffer)::BIGINT AS no_buffer
    FROM (
        SELECT key.*, requests_per_second
        FROM structure_by('calls', {
            'section': section, 'place': place, 'system': system, 'qmgr': qmgr, 'structure': object
        })
    )
    LEFT JOIN data_sets USING (section, system, qmgr, structure)
    GROUP BY ALL
),
structures AS (
    SELECT
        key.*, requests::DOUBLE AS calls, single_requests AS single_calls, single_elapsed AS single_us, single_redriven,
        multiple_requests AS multiple_calls, multiple_elapsed AS multiple_us, multiple_redriven,
        times_full AS full_count, most_entries AS entries, most_elements AS elements
    FROM structure_by('calls', {'section': section, 'place': place, 'structure': object})
),
uses AS (
    SELECT * FROM queue_uses('sectioned.wqst', 'sectioned.wtid', 'sectioned.qcct', FALSE) WHERE is_shared
),
of_queues AS (
    SELECT
        section, place, structure, queue, count(DISTINCT (system, qmgr)) AS members,
        sum(COLUMNS('^(puts|gets|opens|put_direct|put_by_agent|opens_without)$'))::BIGINT AS '\1'
    FROM uses
    GROUP BY ALL
),
requests AS (
    SELECT
        c.section, group_of(w.qsg, told_qsg) AS known_qsg,
        coalesce(known_qsg, c.system || '/' || c.qmgr) AS place,
        queue_of(objname, basename) AS queue, cf_request(request) AS name,
        cfcount, cfsyncn, cfsyncet, cfasyncn, cfasyncet
    FROM sectioned.wqst_cf AS c
    JOIN (
        SELECT input_no, source, record_no, block_no, qsg, objname, basename
        FROM sectioned.wqst
        WHERE cfstrucname <> ''
    ) AS w USING (input_no, source, record_no, block_no)
    LEFT JOIN groups ON groups.system = c.system AND groups.qmgr = c.qmgr
),
by_queue AS (
    SELECT
        section, place, queue,
        sum(cfcount)::BIGINT AS cf_requests,
        sum(cfcount) FILTER (name = 'Read')::BIGINT AS reads,
        sum(cfcount) FILTER (name = 'Read list')::BIGINT AS list_reads,
        sum(cfcount) FILTER (name = 'New')::BIGINT AS news,
        sum(cfcount) FILTER (name IN ('Move', 'MoveEnt'))::BIGINT AS moves,
        sum(cfcount) FILTER (name = 'Write')::BIGINT AS writes,
        sum(cfcount) FILTER (name = 'Delete')::BIGINT AS deletes,
        100 * sum(cfasyncn) / nullif(sum(cfsyncn) + sum(cfasyncn), 0) AS async_share,
        sum(cfsyncet) / nullif(sum(cfsyncn), 0) AS sync_us,
        sum(cfasyncet) / nullif(sum(cfasyncn), 0) AS async_us
    FROM requests
    GROUP BY ALL
)
SELECT 'structure' AS line, *
FROM structures
JOIN members USING (section, place, structure)
WHERE NOT getvariable('of_queues')
UNION ALL BY NAME
SELECT
    'queue' AS line, *,
    list_reads / nullif(moves, 0) AS reads_a_move,
    100 * opens_without / nullif(opens, 0) AS open_without_share
FROM of_queues
LEFT JOIN by_queue USING (section, place, queue)
