-- All TLS tasks of a channel initiator in an interval, with the bytes and messages of channels that use TLS.
WITH
together AS (FROM tasks_together('rows')),
carried AS (
    SELECT
        system, qmgr, interval_start AS start,
        total(bytes_sent::DOUBLE + bytes_received) AS bytes, sum(messages) AS messages,
        total(data_bytes) AS message_bytes, count(*) FILTER (started >= interval_start) AS starts
    FROM channel_figures
    WHERE cipher > 0
    GROUP BY ALL
)
SELECT
    together.*, NULL AS sequence, coalesce(bytes, 0) AS bytes, coalesce(starts, 0) AS starts,
    messages, message_bytes,
    15 * requests + 0.005 * coalesce(bytes, 0) + 3400 * coalesce(starts, 0) AS usual_cpu
FROM together
LEFT JOIN carried USING (system, qmgr, start)
