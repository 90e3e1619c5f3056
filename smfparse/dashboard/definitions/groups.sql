-- The queue-sharing group of each queue manager, from its records, or from the records of its channel initiator.
SELECT coalesce(system, '') AS system, coalesce(qmgr, '') AS qmgr, max(nullif(name, '')) AS name
FROM (
    SELECT system, qmgr, qsg AS name FROM inputs.qmst
    UNION ALL
    SELECT system, qmgr, qsg AS name FROM inputs.wtid
    UNION ALL
    SELECT system, qmgr, queue_sharing_group AS name FROM chinit_rows('inputs.qcct')
)
GROUP BY ALL
HAVING max(nullif(name, '')) IS NOT NULL
ORDER BY ALL
