-- One row per channel instance and interval (QCST). A rate is over the time for which the channel was active
-- in the interval.
WITH
channels AS (
    SELECT
        *,
        CASE WHEN interval_seconds BETWEEN 0 AND 1e9 THEN interval_seconds END AS length,
        interval_start + to_microseconds(round(length * 1e6)::BIGINT) AS interval_end,
        CASE WHEN interval_end IS NOT NULL THEN greatest(
            epoch_us(least(interval_end, qcstludt)) - epoch_us(greatest(interval_start, qcststrt)),
            0
        ) / 1e6 END AS active_seconds
    FROM qcst
)
SELECT
    input_no, system, qmgr, qsg, mq_version, smf_time, counted_at, time, utc_offset,
    interval_start, interval_seconds, source, record_no, block_no,
    qcstchnm AS channel, qcstcnnm AS connection, qcstrqmn AS partner,
    qcstchty_text AS type, qcstchdp_text AS disposition, qcstchst_text AS state,
    qcststcl_text AS collection_level,
    qcststrt AS started, qcstludt AS stopped, qcstcltm AS collected, qcstlmst AS last_message,
    active_seconds,
    qcstnmsg AS messages, qcstnpmg AS persistent_messages,
    qcstnmsg / nullif(active_seconds, 0) AS messages_per_second,
    qcstbatc AS batches, qcstfuba AS full_batches,
    qcstbatc / nullif(active_seconds, 0) AS batches_per_second,
    qcstnmsg / nullif(qcstbatc, 0) AS messages_per_batch,
    qcstcbsz AS batch_size, qcstcbit AS batch_interval, qcstcbdl AS batch_limit,
    qcstnbyt AS bytes, qcstnpby AS persistent_bytes,
    qcstbyst AS bytes_sent, qcstbyrc AS bytes_received,
    qcstbyst / nullif(active_seconds, 0) AS bytes_sent_per_second,
    qcstbyrc / nullif(active_seconds, 0) AS bytes_received_per_second,
    qcstbfst AS buffers_sent, qcstbfrc AS buffers_received,
    qcstntav AS net_average, qcstntmn AS net_shortest, qcstntmx AS net_longest,
    qcstntdt AS net_longest_at,
    qcstetav AS exit_average, qcstetmn AS exit_shortest, qcstetmx AS exit_longest,
    qcstetdt AS exit_longest_at,
    qcstdnrt AS dns_time, qcstcpra AS compression,
    qcstptrc AS put_retries, qcstqetc AS xmitq_empty, qcstcscv AS conversations,
    qcstdspn AS dispatcher, qcstslcs AS cipher,
    nullif(qcstslcn, '') AS certificate_issuer, nullif(qcstslsn, '') AS certificate_serial,
    nullif(qcstrpid, '') AS product, nullif(qcstrver, '') AS product_version
FROM channels
