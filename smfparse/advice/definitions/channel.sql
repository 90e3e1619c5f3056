-- A channel in an interval: the sums of all its instances, and the dispatcher of the instance with the most messages.
WITH
channels AS (
    SELECT
        system, qmgr, object, '' AS job, start, seconds,
        any_value(utc_offset) AS utc_offset, any_value(mq_version) AS mq_version, max(sequence) AS sequence,
        bool_or(is_client) AS is_client, bool_or(sends) AS sends,
        count(*) AS instances, count(*) FILTER (started >= start) AS starts,
        total(messages) AS messages, total(persistent_messages) AS persistent, total(batches) AS batches,
        total(full_batches) AS full_batches, max(batch_size)::DOUBLE AS batch_size,
        total(bytes) AS bytes, total(conversations) AS conversations,
        max(cipher)::DOUBLE AS cipher, max(compression)::DOUBLE AS compression,
        total(put_retries) AS retries, total(xmitq_empty) AS empty,
        arg_max(dispatcher, (coalesce(messages, 0), sequence)) AS dispatcher,
        total(batches::DOUBLE * net_average) AS confirm_us, max(net_longest)::DOUBLE AS longest_us,
        arg_max(net_longest_at, (coalesce(net_longest, 0), sequence)) AS longest_at,
        max(exit_average)::DOUBLE AS exit_us, total(messages::DOUBLE * exit_average) AS exits_us,
        bool_or(is_retrying) AS retrying, arg_max(partner, sequence) AS partner, max(last_message) AS last_message,
        -- The most frequent connection name; of equally frequent names, the first.
        list_min(list_transform(
            map_entries(histogram(connection) FILTER (started >= start)),
            lambda each: {'rest': -each.value::BIGINT, 'name': each.key}
        ))['name'] AS peer,
        total(active_seconds) AS active
    FROM rows
    GROUP BY system, qmgr, object, start, seconds
),
dispatchers AS (
    SELECT system, qmgr, interval_start AS start, block_no - 1 AS dispatcher, max(busy) AS dispatcher_busy
    FROM dispatcher_figures
    GROUP BY ALL
),
all_dispatchers AS (
    SELECT
        system, qmgr, interval_start AS start, total(elapsed) AS dispatchers_us, total(cpu) AS dispatchers_cpu,
        sum(requests)::DOUBLE AS requests
    FROM dispatcher_figures
    GROUP BY ALL
),
ranked AS (
    SELECT
        *, confirm_us / nullif(batches, 0) AS nettime,
        quantile_cont(nettime, 0.25) OVER (PARTITION BY system, qmgr, object) AS usual,
        rank() OVER (PARTITION BY system, qmgr, start ORDER BY messages DESC) <= 5 AND messages > 0 AS is_busy
    FROM channels
)
SELECT
    *, count(*) FILTER (is_busy) OVER (PARTITION BY system, qmgr, start, dispatcher) AS busy_channels
FROM ranked
LEFT JOIN dispatchers USING (system, qmgr, start, dispatcher)
LEFT JOIN all_dispatchers USING (system, qmgr, start)
