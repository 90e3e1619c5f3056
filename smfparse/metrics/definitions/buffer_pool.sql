-- One row per buffer pool and interval (QPST).
SELECT
    input_no, system, qmgr, qsg, mq_version, smf_time, counted_at, time, utc_offset,
    interval_start, interval_seconds, source, record_no,
    qpstpool AS buffer_pool, qpstnbuf AS buffers, qpstcbsl AS lowest_free, qpstcbs AS free,
    100 * qpstcbsl::DOUBLE / nullif(qpstnbuf, 0) AS lowest_free_percent,
    100 * qpstcbs::DOUBLE / nullif(qpstnbuf, 0) AS free_percent,
    100 * (1 - qpstcbsl::DOUBLE / nullif(qpstnbuf, 0)) AS used_percent,
    qpstgetp AS gets_old, qpstgetn AS gets_new,
    qpstrio AS reads, qpstrio / nullif(interval_seconds, 0) AS reads_per_second,
    100 * qpstrio::DOUBLE / nullif(qpstgetp, 0) AS gets_read_percent,
    qpststw AS updates, qpsttpw AS pages_written, qpstwio AS writes,
    qpstwio / nullif(interval_seconds, 0) AS writes_per_second,
    qpsttpw / nullif(qpstwio, 0) AS pages_per_write,
    qpsttpw / 256 / nullif(interval_seconds, 0) AS mb_written_per_second,
    (qpstrio::BIGINT + qpstwio) / nullif(interval_seconds, 0) AS ios_per_second,
    qpstimw AS synchronous_writes,
    qpstdwt AS deferred_write_threshold, qpstdmc AS synchronous_write_threshold,
    qpstsos AS no_buffer, qpststl AS steals, qpststla AS hash_chain_changes,
    qpstloc AS above_bar, qpstf4kb AS page_fixed
FROM qpst
