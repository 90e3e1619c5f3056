-- CLIENTS: client connections, their calls, and the CPU time of the channel initiator. `line` is the kind of line of a
-- row:
--   channel            connections by channel (WTAS, WTID, WQST)
--   limit              instances of channels that the option `maxinst` names (QCST, WTAS)
--   client             instances by the columns in `by`: channel, address, program, product, version (QCST); for a
--                      channel without QCST, its connections (WTAS, WTID)
--   channel initiator  CPU time per message that its tasks put or got (QCT)
-- A connection is a task of a channel, in any number of intervals. With SHARECNV, a conversation is a connection.
WITH
messages AS (
    SELECT of_source, task_record, sum(validput::BIGINT + validget) AS messages, total(all_cpu) AS cpu
    FROM queue_use_facts('sectioned.wqst')
    GROUP BY ALL
),
-- The types of channels, to exclude message channels.
types AS (
    SELECT DISTINCT section, channel, type FROM channel_facts('sectioned.qcst')
),
connections AS (
    SELECT
        t.section, channel, token,
        any_value(connection) AS connection,
        epoch_us(min(interval_start)) AS began, epoch_us(max(interval_end)) AS ended,
        sum(coalesce(messages, 0))::BIGINT AS messages,
        of_whole_task(coalesce(measure(task.ctls), 0)) AS control_calls,
        total(coalesce(cpu, 0) + CASE WHEN getvariable('of_queues') THEN 0 ELSE coalesce(all_cpu, 0) END) AS cpu
    FROM task_facts('sectioned.wtas') AS t
    JOIN owners('sectioned.wtid') USING (of_source, task_record)
    LEFT JOIN messages USING (of_source, task_record)
    WHERE channel <> ''
    GROUP BY ALL
),
channels AS (
    SELECT
        section, channel, coalesce(any_value(type), 'not known') AS type,
        count(*) AS connections,
        count(*) FILTER (messages = 0) AS without_messages,
        sum(messages)::BIGINT AS messages,
        sum(control_calls)::BIGINT AS control_calls,
        count(DISTINCT connection) AS addresses,
        total(cpu) AS cpu
    FROM connections
    LEFT JOIN types USING (section, channel)
    WHERE coalesce(type, 'Server-connection') = 'Server-connection'
    GROUP BY ALL
),
-- One row per instance of a server-connection channel; QCST has a row per interval. QCSTSTRT has steps of a second, so
-- instances of one address can have the same value. `nth` numbers these in each interval, continuing instances first.
entries AS (
    SELECT
        section, channel, nullif(connection, '') AS address, partner_name AS program, sequence, product,
        product_version(product_version) AS version, epoch_us(coalesce(started, interval_start)) AS since,
        epoch_us(interval_start) AS entry_began, epoch_us(interval_end) AS entry_ended,
        epoch_us(stopped) AS until, messages, bytes_sent, bytes_received, conversations,
        row_number() OVER (
            PARTITION BY section, channel, connection, since, interval_start ORDER BY until DESC NULLS FIRST, sequence
        ) AS nth
    FROM channel_rows('sectioned.qcst')
    WHERE type = 'Server-connection'
),
instances AS (
    SELECT
        section, channel, address,
        arg_max(program, sequence) AS program, arg_max(product, sequence) AS product,
        arg_max(version, sequence) AS version,
        since + 1_048_576 > min(entry_began) AS is_new,  -- a step of QCSTSTRT is 2^20 us
        bool_and(until IS NULL) AND max(entry_ended) = of_last AS is_open,
        greatest(since, min(entry_began)) AS began,
        max(least(entry_ended, coalesce(until, entry_ended))) AS ended,
        sum(messages)::BIGINT AS calls, NULL::BIGINT AS messages,
        sum(bytes_sent)::DOUBLE AS sent, sum(bytes_received)::DOUBLE AS received,
        max(conversations) AS conversations
    FROM (
        SELECT *, max(entry_ended) OVER (PARTITION BY section) AS of_last FROM entries
    )
    GROUP BY section, channel, address, since, nth, of_last
    UNION ALL BY NAME
    SELECT
        section, channel, nullif(connection, '') AS address, began, ended, messages
    FROM connections
    LEFT JOIN types USING (section, channel)
    WHERE type IS NULL
),
-- Two rows per instance, at its start and end, each with the number of instances from then on.
moments AS (
    SELECT
        *,
        sum(change) OVER (
            PARTITION BY section, channel, address, program, product, version
            ORDER BY moment, change ROWS UNBOUNDED PRECEDING
        ) AS of_client,
        sum(change) OVER (
            PARTITION BY section, channel ORDER BY moment, change ROWS UNBOUNDED PRECEDING
        ) AS of_channel
    FROM (
        SELECT
            * REPLACE (
                asked_for('address', address) AS address, asked_for('program', program) AS program,
                asked_for('product', product) AS product, asked_for('version', version) AS version
            ),
            unnest([began, greatest(ended, began + 1)]) AS moment, unnest([1, -1]) AS change
        FROM instances
    )
),
most_at_once AS (
    SELECT section, channel, max(of_channel)::BIGINT AS most_at_once FROM moments GROUP BY ALL
),
covered AS (
    SELECT section, seconds_covered(list(DISTINCT entry_began), list(DISTINCT entry_ended)) AS seconds
    FROM entries
    GROUP BY ALL
),
clients AS (
    SELECT
        section, channel, address, program, product, version,
        count(*) AS connections, max(most)::BIGINT AS most_at_once,
        sum(is_new::INTEGER)::BIGINT AS starts, sum(is_open::INTEGER)::BIGINT AS still_open,
        sum(messages)::BIGINT AS messages, sum(calls)::BIGINT AS calls,
        max(conversations) AS conversations,
        sum(sent) AS sent, sum(received) AS received
    FROM (
        SELECT
            *, max(of_client) OVER (
                PARTITION BY section, channel, address, program, product, version
            ) AS most
        FROM moments
    )
    WHERE change = 1
    GROUP BY ALL
),
spent AS (
    SELECT
        section, dispatchers.cpu AS dispatcher_cpu, adapters.cpu AS adapter_cpu, tls_tasks.cpu AS ssl_cpu,
        dns_tasks.cpu AS dns_cpu,
        list_sum([dispatcher_cpu, adapter_cpu, ssl_cpu, dns_cpu]) AS chinit_cpu
    FROM dispatcher_of_section('sectioned.qct_dsp') AS dispatchers
    FULL JOIN adapter_of_section('sectioned.qct_adp') AS adapters USING (section)
    FULL JOIN tls_task_of_section('sectioned.qct_ssl') AS tls_tasks USING (section)
    FULL JOIN dns_task_of_section('sectioned.qct_dns') AS dns_tasks USING (section)
),
moved AS (
    SELECT
        q.section, sum(q.validput::BIGINT + q.validget)::BIGINT AS messages,
        sum(q.putbytes::DOUBLE + q.getbytes) AS moved_bytes
    FROM of_tasks('sectioned.wqst') AS q
    JOIN owners('sectioned.wtid') USING (of_source, task_record)
    WHERE connection_type = 'Channel initiator'
    GROUP BY ALL
)
SELECT * EXCLUDE (cpu, sent, received, seconds, moved_bytes)
FROM (
    SELECT
        'channel' AS line, *,
        messages / nullif(connections, 0) AS messages_per_connection,
        cpu / nullif(connections, 0) AS connection_cpu, cpu / nullif(messages, 0) AS message_cpu
    FROM channels
    LEFT JOIN most_at_once USING (section, channel)
    UNION ALL BY NAME
    SELECT 'limit' AS line, *, 100 * most_at_once / maxinst AS maxinst_share
    FROM most_at_once
    JOIN (
        SELECT unnest(getvariable('maxinst')::STRUCT(channel VARCHAR, maxinst BIGINT)[], recursive := TRUE)
    ) USING (channel)
    UNION ALL BY NAME
    SELECT
        'client' AS line, *, starts / nullif(seconds, 0) AS starts_per_second,
        sent / nullif(calls, 0) AS bytes_out, received / nullif(calls, 0) AS bytes_in,
        sent + received AS bytes
    FROM clients
    LEFT JOIN covered USING (section)
    WHERE NOT getvariable('of_queues')
    UNION ALL BY NAME
    SELECT
        'channel initiator' AS line, * EXCLUDE (is_longer),
        chinit_cpu / nullif(CASE WHEN NOT is_longer THEN messages END, 0) AS chinit_message_cpu,
        chinit_cpu / (nullif(CASE WHEN NOT is_longer THEN moved_bytes END, 0) / 1048576) AS chinit_mb_cpu
    FROM spent
    LEFT JOIN moved USING (section)
    LEFT JOIN (SELECT section, has_longer_tasks(marks) AS is_longer FROM sectioned.keys) USING (section)
    WHERE NOT getvariable('of_queues')
)
