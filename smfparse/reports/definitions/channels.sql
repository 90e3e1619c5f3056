-- CHANNELS: batches, what waits for the partner, compression, bytes that the protocol adds (QCST). `line` is the
-- kind of line of a row:
--   channel  one per channel and type: all its instances
--   cipher   what went over channels of each cipher specification
-- Averages that the channel initiator made are weighted: net time by batches, the others by messages.
WITH
seen AS (
    SELECT
        *, qcstchnm AS channel, qcstchty_text AS type, qcstslcs::BIGINT AS cipher_number,
        -- A sender's data goes out, a receiver's comes in; of a client both do.
        CASE
            WHEN sends_messages(type) THEN qcstbyst
            WHEN takes_messages(type) THEN qcstbyrc
        END AS carried,
        greatest(
            epoch_us(least(interval_end, coalesce(qcstludt, interval_end)))
            - epoch_us(greatest(interval_start, qcststrt)), 0
        ) / 1e6 AS active
    FROM sectioned.qcst
),
summed AS (
    SELECT
        section, channel, type,
        arg_max(qcstrqmn, sequence) AS partner,
        count(*) AS records, count(DISTINCT (qcstcnnm, qcststrt)) AS instances,
        total(active) AS active_seconds,
        sum(qcstnmsg)::BIGINT AS messages, sum(qcstnpmg)::BIGINT AS persistent_messages,
        sum(qcstbatc)::BIGINT AS batches, sum(qcstfuba)::BIGINT AS full_batches,
        arg_max(qcstcbsz, sequence) AS batch_size,
        sum(qcstnbyt)::DOUBLE AS bytes, sum(carried)::DOUBLE AS carried,
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
dispatchers AS (
    SELECT
        section, block_no - 1 AS dispatcher,
        100 * total(qcteltm) / nullif(total(interval_seconds) * 1e6, 0) AS dispatcher_busy
    FROM sectioned.qct_dsp
    GROUP BY ALL
),
ciphers AS (
    SELECT
        section, cipher_number, count(DISTINCT channel) AS channels,
        sum(qcstnmsg)::BIGINT AS messages, sum(qcstnbyt)::DOUBLE AS bytes,
        sum(qcstbyst::DOUBLE + qcstbyrc) AS all_bytes
    FROM seen
    WHERE cipher_number > 0
    GROUP BY ALL
)
SELECT * EXCLUDE (bytes, carried, all_bytes, net_wait, cipher_number)
FROM (
    SELECT
        'channel' AS line, *,
        messages / nullif(active_seconds, 0) AS rate,
        carried / 1048576 / nullif(active_seconds, 0) AS mb_a_second,
        messages / nullif(batches, 0) AS messages_a_batch,
        100 * full_batches / nullif(batches, 0) AS full_share,
        bytes / nullif(messages, 0) AS size,
        (carried - bytes) / nullif(messages, 0) AS added_bytes,
        100 * net_wait / nullif(active_seconds * 1e6, 0) AS confirm_share,
        cipher_name(cipher_number) AS cipher
    FROM summed
    LEFT JOIN dispatchers USING (section, dispatcher)
    UNION ALL BY NAME
    SELECT
        'cipher' AS line, *, cipher_name(cipher_number) AS cipher,
        bytes / 1048576 AS data_mb, all_bytes / 1048576 AS all_mb
    FROM ciphers
)
