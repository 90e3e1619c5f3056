-- The message channel with the most bytes (QCST).
WITH
channels AS (
    SELECT
        system, qmgr, channel, sum(bytes)::DOUBLE AS bytes, total(messages) AS n,
        nullif(max(compression), 0) AS compression
    FROM channel
    WHERE batches > 0
    GROUP BY ALL
)
SELECT
    system, qmgr, 'channel ' || arg_max(channel, (bytes, channel)) AS about,
    arg_max(bytes / nullif(n, 0) / 1024, (bytes, channel)) AS message_kb,
    arg_max(compression, (bytes, channel)) AS compressible,
    arg_max(n / nullif(seconds, 0), (bytes, channel)) AS messages_s
FROM channels
LEFT JOIN covered_of_channels('qcst', 'qmst') USING (system, qmgr)
WHERE n > 0
GROUP BY ALL
