-- DCHS: one row per section and channel instance (QCST), the sum of its intervals. Rates are divided by the whole
-- seconds in which the channel was active in the interval. Averages from the channel initiator are weighted: net time
-- by batches, other averages by messages.
WITH
instances AS (
    SELECT
        key.*, * EXCLUDE (key, messages_per_second, batches_per_second), data_bytes AS bytes,
        trunc(active_seconds)::BIGINT AS active
    FROM channel_by(
        'sectioned.qcst',
        {'section': section, 'channel': channel, 'connection': connection, 'started': started}
    )
)
SELECT
    *, COLUMNS('^(bytes(_sent|_received)?|(non)?persistent_bytes|(sent|received)_per_(batch|message|second))$') AS '\0_size'
FROM (
    SELECT
        section, channel, connection, started, last_partner AS partner, upper(disposition) AS disposition,
        upper(last_type) AS type, upper(state) AS state, upper(collection_level) AS statchl, stopped, collected,
        last_message, active, last_batch_size AS batch_size, messages, persistent_messages AS persistent,
        complete_batches AS batches, full_batches, partial_batches, messages_per_batch, buffers_sent, buffers_received,
        xmitq_empty, bytes, persistent_bytes, nonpersistent_bytes, bytes_sent, bytes_received, received_per_batch,
        sent_per_batch, received_per_message, sent_per_message, put_retries,
        coalesce(compression_by_message, compression_mean) AS compression,
        coalesce(exit_by_message, exit_mean) AS exit_average, exit_shortest, exit_longest, exit_longest_at,
        dns_time, conversations, last_dispatcher AS dispatcher, batch_interval, batch_limit,
        certificate_issuer AS certificate, product, product_version,
        coalesce(network_by_batch, network_mean) AS net_average, net_shortest, net_longest, net_longest_at,
        bytes_received / nullif(active, 0) AS received_per_second, bytes_sent / nullif(active, 0) AS sent_per_second,
        batches / nullif(active, 0) AS batches_per_second, batches_per_second AS batch_rate
    FROM instances
)
