-- Storage of the channel initiator (QCCT) when it had most channels, and what a channel takes.
SELECT
    system, qmgr,
    arg_max(qcctstus, (qcctnocc, time)) AS used_mb,
    max(qcctnocc) AS current,
    max(qcctmxcc) AS maxchl,
    list([qcctnocc::DOUBLE, qcctstus * 1024::DOUBLE] ORDER BY time, qcctnocc, qcctstus) AS kb_each
FROM qcct
GROUP BY ALL
ORDER BY ALL
