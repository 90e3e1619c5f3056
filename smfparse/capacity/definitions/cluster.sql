-- The command queue of the cluster (QQST).
SELECT
    system, qmgr,
    max(qqstdphi) AS depth,
    max(qqstgets / nullif(interval_seconds, 0)) AS gets_s
FROM qqst
WHERE qqstqnam = 'SYSTEM.CLUSTER.COMMAND.QUEUE'
GROUP BY ALL
ORDER BY ALL
