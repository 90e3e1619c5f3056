-- CLIENTS: who comes by channel, how often, what a connection carries, and what the channel initiator spends
-- on it. `line` is the kind of line of a row:
--   channel            connections by channel (WTAS, WTID, WQST)
--   program            calls by channel and program (QCST)
--   channel initiator  its CPU time for each message that its tasks put or got (QCT)
-- A connection is a task of a channel, however many intervals it lasts: of SHARECNV a conversation.
WITH
messages AS (
    SELECT
        coalesce(task_source, source) AS of_source,
        coalesce(task_record_offset, record_offset) AS task_record,
        sum(validput::BIGINT + validget) AS messages,
        total(of_all_verbs(openct, closect, getct, putct, put1ct, inqct, setct, cbct)) AS cpu
    FROM sectioned.wqst
    GROUP BY ALL
),
-- What is known of a channel is its type: a message channel is no client's.
types AS (
    SELECT DISTINCT section, qcstchnm AS channel, qcstchty_text AS type FROM sectioned.qcst
),
connections AS (
    SELECT
        t.section, channel, task_of_wtas(task_started_tod, task_thread) AS token,
        any_value(connection) AS connection,
        sum(coalesce(messages, 0))::BIGINT AS messages,
        of_whole_task(sum(coalesce(wtasctn, 0))::BIGINT) AS control_calls,
        total(coalesce(cpu, 0)) + CASE WHEN getvariable('of_queues') THEN 0 ELSE total(
            coalesce(wtascmct, 0) + coalesce(wtasbact, 0) + coalesce(wtasprct, 0)
            + coalesce(wtassuct, 0) + coalesce(wtassqct, 0) + coalesce(wtasctct, 0)
            + coalesce(wtasstct, 0) + coalesce(wtasotct, 0)
        ) END AS cpu
    FROM (
        SELECT
            *, coalesce(task_source, source) AS of_source,
            coalesce(task_record_offset, record_offset) AS task_record
        FROM sectioned.wtas
    ) AS t
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
programs AS (
    SELECT
        section, qcstchnm AS channel, qcstrqmn AS program, count(*) AS instances,
        sum(qcstnmsg)::BIGINT AS calls,
        max(qcstcscv) AS conversations,
        sum(qcstbyst)::DOUBLE AS sent, sum(qcstbyrc)::DOUBLE AS received
    FROM sectioned.qcst
    WHERE qcstchty_text = 'Server-connection'
    GROUP BY ALL
),
tasks AS (
    SELECT section, 'dispatcher' AS kind, qctcptm FROM sectioned.qct_dsp
    UNION ALL
    SELECT section, 'adapter' AS kind, qctcptm FROM sectioned.qct_adp
    UNION ALL
    SELECT section, 'ssl' AS kind, qctcptm FROM sectioned.qct_ssl
    UNION ALL
    SELECT section, 'dns' AS kind, qctcptm FROM sectioned.qct_dns
),
spent AS (
    SELECT
        section, total(CASE kind WHEN 'dispatcher' THEN qctcptm END) AS dispatcher_cpu,
        total(CASE kind WHEN 'adapter' THEN qctcptm END) AS adapter_cpu,
        total(CASE kind WHEN 'ssl' THEN qctcptm END) AS ssl_cpu,
        total(CASE kind WHEN 'dns' THEN qctcptm END) AS dns_cpu,
        total(qctcptm) AS chinit_cpu
    FROM tasks
    GROUP BY section
),
moved AS (
    SELECT
        q.section, sum(q.validput::BIGINT + q.validget)::BIGINT AS messages,
        sum(q.putbytes::DOUBLE + q.getbytes) AS bytes
    FROM (
        SELECT
            *, coalesce(task_source, source) AS of_source,
            coalesce(task_record_offset, record_offset) AS task_record
        FROM sectioned.wqst
    ) AS q
    JOIN owners('sectioned.wtid') USING (of_source, task_record)
    WHERE connection_type = 'Channel initiator'
    GROUP BY ALL
)
SELECT * EXCLUDE (cpu, sent, received, bytes)
FROM (
    SELECT
        'channel' AS line, *,
        messages / nullif(connections, 0) AS messages_per_connection,
        cpu / nullif(connections, 0) AS connection_cpu, cpu / nullif(messages, 0) AS message_cpu
    FROM channels
    UNION ALL BY NAME
    SELECT
        'program' AS line, *, sent / nullif(calls, 0) AS bytes_out,
        received / nullif(calls, 0) AS bytes_in
    FROM programs
    WHERE NOT getvariable('of_queues')
    UNION ALL BY NAME
    SELECT
        'channel initiator' AS line, *,
        chinit_cpu / nullif(messages, 0) AS chinit_message_cpu,
        chinit_cpu / (nullif(bytes, 0) / 1048576) AS chinit_mb_cpu
    FROM spent
    LEFT JOIN moved USING (section)
    WHERE NOT getvariable('of_queues')
)
