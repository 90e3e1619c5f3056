-- The cluster command queue, from queue statistics (QQST).
SELECT system, qmgr, max(highest_depth) AS depth, max(gets_per_second) AS gets_s
FROM queue_figures
WHERE queue = 'SYSTEM.CLUSTER.COMMAND.QUEUE'
GROUP BY ALL
