-- Messages and starts of channels with TLS (QCST).
SELECT
    system, qmgr,
    sum(bytes)::DOUBLE / nullif(sum(messages), 0) / 1024 AS message_kb,
    sum(messages) / nullif(any_value(seconds), 0) AS messages_s,
    count_if(started >= interval_start) / nullif(any_value(seconds), 0) AS starts_s
FROM channel
LEFT JOIN covered_of_channels('qcst', 'qmst') USING (system, qmgr)
WHERE cipher <> 0
GROUP BY system, qmgr
HAVING sum(messages) > 0
