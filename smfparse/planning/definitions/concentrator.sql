-- Clients (QCST), how often they connect (WTAS), and what the channel initiator spends on messages that its tasks get
-- (QCT, WQST).
WITH
clients AS (
    SELECT system, qmgr, max(clients) AS clients
    FROM (
        SELECT system, qmgr, interval_start, count(*) AS clients
        FROM channel
        WHERE type = 'Server-connection'
        GROUP BY ALL
    )
    GROUP BY ALL
),
spent AS (SELECT system, qmgr, total(cpu) AS cpu FROM chinit_task GROUP BY ALL),
got AS (
    SELECT system, qmgr, total(messages_got) AS gets
    FROM queue_activity
    WHERE channel <> ''
    GROUP BY ALL
),
connected AS (
    SELECT system, qmgr, count(ended)::DOUBLE AS connects
    FROM task
    ANTI JOIN (FROM channel WHERE type <> 'Server-connection') USING (system, qmgr, channel)
    WHERE channel <> ''
    GROUP BY ALL
)
SELECT
    system, qmgr, clients,
    gets / nullif(seconds, 0) AS transactions_s,
    cpu / nullif(gets, 0) AS chin_us,
    connects / nullif(seconds, 0) AS connects_s
FROM spent
FULL JOIN clients USING (system, qmgr)
FULL JOIN got USING (system, qmgr)
LEFT JOIN connected USING (system, qmgr)
LEFT JOIN covered_of_qmgrs('wqst', 'qmst') USING (system, qmgr)
WHERE clients > 0
