-- QALL: one row per section and queue, by the name it was opened by: what all tasks did on it (WQST).
WITH
shortest AS (
    SELECT section, objname, min(minlatnt) AS shortest
    FROM sectioned.wqst
    WHERE validget > 0
    GROUP BY ALL
),
queues AS (
    SELECT
        {
            'section': section, 'objname': objname, 'base': nullif(basename, objname),
            'structure': nullif(cfstrucname, ''), 'maxqdpth': maxqdpth
        } AS queue,
        *
    FROM grouped.wqst
    LEFT JOIN shortest USING (section, objname)
)
SELECT * EXCLUDE (maxqdpth, queue_elapsed, queue_cpu), maxqdpth, queue_elapsed, queue_cpu
FROM queue_figures('queues')
