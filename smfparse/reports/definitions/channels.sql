-- CHANNELS: batches, what waits for the partner, compression, bytes and what the protocol adds (QCST). `line` is the
-- kind of line of a row:
--   channel  one per channel and type: all its instances
--   partner  one per channel, type and partner, of a channel with several partners
--   cipher   what went over channels of each cipher specification
-- Averages that the channel initiator made are weighted: net time by batches, the others by messages.
WITH
seen AS (
    SELECT
        *, qcstchnm AS channel, qcstchty_text AS type, qcstslcs::BIGINT AS cipher_number,
        -- A sender's data goes out, a receiver's comes in; a client's goes both ways.
        CASE
            WHEN sends_messages(type) THEN qcstbyst::DOUBLE
            WHEN takes_messages(type) THEN qcstbyrc
            ELSE qcstbyst::DOUBLE + qcstbyrc
        END AS carried,
        CASE WHEN sends_messages(type) OR takes_messages(type) THEN carried - qcstnbyt END AS added,
        nullif(qcstrqmn, '') AS named_partner
    FROM channel_facts('sectioned.qcst')
),
summed AS (
    SELECT
        section, channel, type,
        count(DISTINCT named_partner) AS partners,
        CASE WHEN partners = 1 THEN any_value(named_partner) END AS partner,
        count(*) AS records, count(DISTINCT (qcstcnnm, qcststrt)) AS instances,
        total(active) AS active_seconds,
        sum(qcstnmsg)::BIGINT AS messages, sum(qcstnpmg)::BIGINT AS persistent_messages,
        sum(qcstbatc)::BIGINT AS batches, sum(qcstfuba)::BIGINT AS full_batches,
        arg_max(qcstcbsz, sequence) AS batch_size,
        sum(qcstnbyt)::DOUBLE AS data_bytes, sum(carried) AS bytes, sum(added) AS added,
        sum(qcstbfst + qcstbfrc::BIGINT)::BIGINT AS buffers,
        sum(qcstntav::DOUBLE * qcstbatc) AS net_wait,
        coalesce(net_wait / nullif(sum(qcstbatc), 0), avg(qcstntav)) AS net_average,
        max(qcstntmx) AS net_longest,
        coalesce(sum(qcstcpra::DOUBLE * qcstnmsg) / nullif(sum(qcstnmsg), 0), avg(qcstcpra)) AS compression,
        coalesce(sum(qcstetav::DOUBLE * qcstnmsg) / nullif(sum(qcstnmsg), 0), avg(qcstetav)) AS exit_average,
        sum(qcstptrc)::BIGINT AS put_retries, sum(qcstqetc)::BIGINT AS xmitq_empty,
        arg_max(qcstdspn, sequence) AS dispatcher,
        arg_max(nullif(cipher_number, 0), sequence) AS cipher_number
    FROM seen
    GROUP BY ALL
),
partners AS (
    SELECT
        section, channel, type, named_partner AS partner,
        count(*) AS records, count(DISTINCT (qcstcnnm, qcststrt)) AS instances,
        total(active) AS active_seconds,
        sum(qcstnmsg)::BIGINT AS messages, sum(qcstnpmg)::BIGINT AS persistent_messages,
        sum(carried) AS bytes
    FROM seen
    WHERE named_partner IS NOT NULL
    GROUP BY section, channel, type, named_partner
    QUALIFY count(*) OVER (PARTITION BY section, channel, type) > 1
),
covered AS (
    SELECT
        section,
        seconds_covered(
            list(DISTINCT epoch_us(interval_start)), list(DISTINCT epoch_us(interval_end))
        ) AS covered_seconds
    FROM seen
    GROUP BY section
),
dispatchers AS (
    SELECT section, block_no - 1 AS dispatcher, busy AS dispatcher_busy
    FROM dispatcher_by_section('sectioned.qct_dsp')
),
ciphers AS (
    SELECT
        section, cipher_number, count(DISTINCT channel) AS channels,
        sum(qcstnmsg)::BIGINT AS messages, sum(qcstnbyt)::DOUBLE AS data_bytes,
        sum(qcstbyst::DOUBLE + qcstbyrc) AS all_bytes
    FROM seen
    WHERE cipher_number > 0
    GROUP BY ALL
)
SELECT
    * EXCLUDE (data_bytes, added, all_bytes, covered_seconds, net_wait, cipher_number),
    messages / nullif(active_seconds, 0) AS rate,
    bytes / nullif(covered_seconds, 0) AS bytes_per_second,
    bytes / 1048576 / nullif(active_seconds, 0) AS mb_a_second,
    cipher_name(cipher_number) AS cipher
FROM (
    SELECT
        'channel' AS line, *,
        messages / nullif(batches, 0) AS messages_a_batch,
        100 * full_batches / nullif(batches, 0) AS full_share,
        data_bytes / nullif(messages, 0) AS size,
        added / nullif(messages, 0) AS added_bytes,
        100 * net_wait / nullif(active_seconds * 1e6, 0) AS confirm_share
    FROM summed
    LEFT JOIN dispatchers USING (section, dispatcher)
    UNION ALL BY NAME
    SELECT 'partner' AS line, * FROM partners
    UNION ALL BY NAME
    SELECT 'cipher' AS line, *, data_bytes / 1048576 AS data_mb, all_bytes / 1048576 AS all_mb FROM ciphers
)
LEFT JOIN covered USING (section)
