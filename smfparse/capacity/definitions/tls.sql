-- Messages of channels with TLS (QCST).
SELECT
    system, qmgr,
    sum(bytes)::DOUBLE / nullif(sum(messages), 0) / 1024 AS message_kb,
    sum(messages) / nullif(covered(time, interval_seconds), 0) AS messages_s
FROM channel
WHERE cipher <> 0
GROUP BY ALL
HAVING sum(messages) > 0
ORDER BY ALL
