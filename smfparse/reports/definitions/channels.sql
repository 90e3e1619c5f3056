-- CHANNELS: batches, waits for the partner, compression, bytes and protocol overhead (QCST). `line` is the kind of line
-- of a row:
--   channel  a channel and type, with all instances
--   partner  a channel, type and partner, if the channel has several partners
--   cipher   all channels with a cipher specification
WITH
channels AS (
    SELECT key.*, * EXCLUDE (key)
    FROM channel_by('sectioned.qcst', {'section': section, 'channel': channel, 'type': type})
),
several AS (
    SELECT key.*, * EXCLUDE (key)
    FROM channel_by('sectioned.qcst', {'section': section, 'channel': channel, 'type': type, 'partner': partner})
    WHERE key.partner <> ''
    QUALIFY count(*) OVER (PARTITION BY key.section, key.channel, key.type) > 1
),
covered AS (
    SELECT
        section,
        seconds_covered(list(DISTINCT epoch_us(interval_start)), list(DISTINCT epoch_us(interval_end))) AS covered
    FROM sectioned.qcst
    GROUP BY section
),
dispatchers AS (
    SELECT section, block_no - 1 AS dispatcher, busy AS dispatcher_busy
    FROM dispatcher_by_section('sectioned.qct_dsp')
)
SELECT
    'channel' AS line, section, channel, type, partners, CASE WHEN partners = 1 THEN partner_name END AS partner,
    records, instances, active_seconds, messages, persistent_messages, complete_batches AS batches, full_batches, batch_size, buffers,
    carried_bytes AS bytes, carried_bytes / nullif(covered, 0) AS bytes_per_second,
    carried_mb_per_second AS mb_a_second, bytes_per_message AS size, added_bytes_per_message AS added_bytes,
    messages_per_second AS rate, messages_per_batch AS messages_a_batch, full_batches_percent AS full_share,
    coalesce(network_by_batch, network_mean) AS net_average, net_longest,
    confirming_percent AS confirm_share, coalesce(compression_by_message, compression_mean) AS compression,
    coalesce(exit_by_message, exit_mean) AS exit_average, put_retries, xmitq_empty, dispatcher, dispatcher_busy,
    cipher_name(cipher_used) AS cipher
FROM channels
LEFT JOIN dispatchers USING (section, dispatcher)
LEFT JOIN covered USING (section)
UNION ALL BY NAME
SELECT
    'partner' AS line, section, channel, type, partner, records, instances, active_seconds, messages,
    persistent_messages, carried_bytes AS bytes, carried_bytes / nullif(covered, 0) AS bytes_per_second,
    carried_mb_per_second AS mb_a_second, messages_per_second AS rate
FROM several
LEFT JOIN covered USING (section)
UNION ALL BY NAME
SELECT
    'cipher' AS line, key.section, cipher_name(key.cipher) AS cipher, channels, messages,
    mb AS data_mb, both_ways_bytes / 1048576 AS all_mb
FROM channel_by('sectioned.qcst', {'section': section, 'cipher': cipher_number})
WHERE key.cipher > 0
