-- Clients (QCST), and CPU of the channel initiator per message that its tasks get (QCT, WQST).
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
)
SELECT
    system, qmgr, clients,
    gets / nullif(seconds, 0) AS transactions_s,
    cpu / nullif(gets, 0) AS chin_us
FROM spent
FULL JOIN clients USING (system, qmgr)
FULL JOIN got USING (system, qmgr)
LEFT JOIN covered_of_qmgrs('wqst', 'qmst') USING (system, qmgr)
WHERE clients > 0
