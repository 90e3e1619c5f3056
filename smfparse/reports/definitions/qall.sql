-- QALL: one row per section and queue, by the name it was opened by, and transaction where rows are by it: what all
-- tasks did on it (WQST).
WITH
shortest AS (
    SELECT section, objname, "transaction", min(minlatnt) AS shortest
    FROM sectioned.wqst
    WHERE validget > 0
    GROUP BY ALL
),
queues AS (
    SELECT
        {
            'section': q.section, 'objname': q.objname, 'transaction': q."transaction",
            'base': nullif(basename, q.objname),
            'structure': nullif(cfstrucname, ''), 'maxqdpth': maxqdpth
        } AS queue,
        q.*, shortest
    FROM grouped.wqst AS q
    LEFT JOIN shortest
        ON shortest.section = q.section AND shortest.objname = q.objname
        AND shortest."transaction" IS NOT DISTINCT FROM q."transaction"
)
SELECT * EXCLUDE (maxqdpth, queue_elapsed, queue_cpu), maxqdpth, queue_elapsed, queue_cpu
FROM queue_figures('queues')
