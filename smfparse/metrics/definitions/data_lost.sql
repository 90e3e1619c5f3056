-- One row per loss of SMF records (SMF type 7): of a system, so of all queue managers on it.
SELECT
    input_no, system, qmgr, qsg, mq_version, smf_time, counted_at, time, utc_offset,
    interval_start, interval_seconds, source, record_no,
    smf7stm AS lost_from, smf_time AS lost_until,
    (epoch_us(smf_time) - epoch_us(smf7stm)) / 1e6 AS lost_seconds,
    lost_records(smf7nrf, smf7nro, smf7nrox) AS records,
    smf7lsd AS of_log_stream
FROM smf7
