-- The command queue of the cluster (QQST).
SELECT system, qmgr, max(qqstdphi) AS depth, max(gets_per_second) AS gets_s
FROM queue_rows('inputs.qqst')
WHERE qqstqnam = 'SYSTEM.CLUSTER.COMMAND.QUEUE'
GROUP BY ALL
ORDER BY ALL
