-- The message channel with the longest total wait for confirmations of batches (QCST).
WITH
channels AS (
    SELECT
        system, qmgr, channel,
        total(messages) AS n, total(batches) AS b, sum(bytes)::DOUBLE AS bytes,
        total(batches::DOUBLE * net_average) AS waited, total(active_seconds) * 1e6 AS active,
        max(batch_limit) AS batchlim
    FROM channel
    WHERE batches > 0 AND net_average > 0
    GROUP BY ALL
)
SELECT
    system, qmgr, 'channel ' || arg_max(channel, (waited, channel)) AS about,
    arg_max(n / b, (waited, channel)) AS messages_a_batch,
    arg_max((active - waited) / nullif(n, 0), (waited, channel)) AS message_time,
    arg_max(waited / b / 1000, (waited, channel)) AS net_ms,
    arg_max(bytes / nullif(n, 0) / 1024, (waited, channel)) AS message_kb,
    arg_max(batchlim, (waited, channel)) AS batchlim
FROM channels
WHERE n > 0
GROUP BY ALL
