-- DCHS: one row per section and channel instance (QCST), its intervals added.
-- A rate is over the whole seconds for which the channel was active in the interval. Averages that the
-- channel initiator made are weighted: net time by batches, the others by messages.
WITH
seen AS (
    SELECT *, CASE WHEN qcstcltm IS NOT NULL THEN (qcstcltm, sequence) END AS last
    FROM channel_facts('sectioned.qcst')
),
channels AS (
    SELECT
        section,
        qcstchnm AS channel,
        qcstcnnm AS connection,
        qcststrt AS started,
        arg_max(qcstrqmn, last) AS partner,
        arg_max(upper(qcstchdp_text), last) AS disposition,
        arg_max(upper(qcstchty_text), last) AS type,
        arg_max(upper(qcstchst_text), last) AS state,
        arg_max(upper(qcststcl_text), last) AS statchl,
        max(qcstludt) AS stopped,
        max(qcstcltm) AS collected,
        max(qcstlmst) AS last_message,
        trunc(total(active))::BIGINT AS active,
        arg_max(qcstcbsz, last) AS batch_size,
        sum(qcstnmsg)::BIGINT AS messages,
        sum(qcstnpmg)::BIGINT AS persistent,
        sum(qcstbatc)::BIGINT AS batches,
        sum(qcstfuba)::BIGINT AS full_batches,
        sum(qcstbfst)::BIGINT AS buffers_sent,
        sum(qcstbfrc)::BIGINT AS buffers_received,
        sum(qcstqetc)::BIGINT AS xmitq_empty,
        TRY_CAST(sum(qcstnbyt) AS UBIGINT) AS bytes,
        TRY_CAST(sum(qcstnpby) AS UBIGINT) AS persistent_bytes,
        TRY_CAST(sum(qcstbyst) AS UBIGINT) AS bytes_sent,
        TRY_CAST(sum(qcstbyrc) AS UBIGINT) AS bytes_received,
        sum(qcstptrc)::BIGINT AS put_retries,
        coalesce(sum(qcstcpra::HUGEINT * qcstnmsg) / nullif(sum(qcstnmsg), 0), avg(qcstcpra)) AS compression,
        coalesce(sum(qcstetav::HUGEINT * qcstnmsg) / nullif(sum(qcstnmsg), 0), avg(qcstetav)) AS exit_average,
        min(qcstetmn) AS exit_shortest,
        max(qcstetmx) AS exit_longest,
        of_largest(qcstetdt, qcstetmx, sequence) AS exit_longest_at,
        arg_max(qcstdnrt, last) AS dns_time,
        coalesce(sum(qcstntav::HUGEINT * qcstbatc) / nullif(sum(qcstbatc), 0), avg(qcstntav)) AS net_average,
        min(qcstntmn) AS net_shortest,
        max(qcstntmx) AS net_longest,
        of_largest(qcstntdt, qcstntmx, sequence) AS net_longest_at,
        arg_max(qcstcscv, last) AS conversations,
        arg_max(qcstdspn, last) AS dispatcher,
        arg_max(qcstcbit, last) AS batch_interval,
        arg_max(qcstcbdl, last) AS batch_limit,
        arg_max(nullif(qcstslcn, ''), last) AS certificate,
        arg_max(nullif(qcstrpid, ''), last) AS product,
        arg_max(nullif(qcstrver, ''), last) AS product_version
    FROM seen
    GROUP BY section, channel, connection, started
)
SELECT
    *, COLUMNS('^(bytes(_sent|_received)?|(non)?persistent_bytes|(sent|received)_per_(batch|message|second))$') AS '\0_size'
FROM (
    SELECT
        *,
        messages / nullif(batches, 0) AS messages_per_batch,
        batches - full_batches AS partial_batches,
        TRY_CAST(bytes::HUGEINT - persistent_bytes AS BIGINT) AS nonpersistent_bytes,
        bytes_received / nullif(batches, 0) AS received_per_batch,
        bytes_sent / nullif(batches, 0) AS sent_per_batch,
        bytes_received / nullif(messages, 0) AS received_per_message,
        bytes_sent / nullif(messages, 0) AS sent_per_message,
        bytes_received / nullif(active, 0) AS received_per_second,
        bytes_sent / nullif(active, 0) AS sent_per_second,
        batches / nullif(active, 0) AS batches_per_second,
        batches_per_second AS batch_rate
    FROM channels
)
