-- One row per log manager block (QJST), with its write I/O (QJST_IO). Both copies are written at once, so that
-- of copies the one counts that wrote or waited more.
WITH
copies AS (
    SELECT
        input_no, source, record_no, block_no, copy,
        sum(qjstioci)::BIGINT AS pages, sum(qjstiocount)::BIGINT AS ios,
        total(qjstiototio) AS elapsed, sum(timed(qjstiocount, qjstiototio)) AS elapsed_of,
        total(qjstiototsus) AS suspended,
        max(qjstiomaxio) AS longest, max(qjstiomaxsus) AS longest_suspended
    FROM qjst_io
    GROUP BY ALL
),
io AS (
    SELECT
        input_no, source, record_no, block_no,
        max(pages) AS copy_pages, max(suspended) AS copy_suspended,
        sum(pages)::BIGINT AS pages, sum(ios)::BIGINT AS ios, total(elapsed) AS elapsed, sum(elapsed_of) AS elapsed_of,
        max(longest) AS longest, max(longest_suspended) AS longest_suspended
    FROM copies
    GROUP BY ALL
),
log AS (
    SELECT
        *,
        CASE WHEN qjstslptu IS NOT NULL THEN coalesce(copy_pages, 0) END AS pages_per_copy,
        CASE WHEN qjstslptu IS NOT NULL THEN coalesce(copy_suspended, 0) END AS io_wait
    FROM qjst
    LEFT JOIN io USING (input_no, source, record_no, block_no)
)
SELECT
    input_no, system, qmgr, qsg, mq_version, smf_time, counted_at, time, utc_offset,
    interval_start, interval_seconds, source, record_no,
    pages_per_copy,
    pages_per_copy / 256 AS mb_written,
    mb_written / nullif(interval_seconds, 0) AS mb_per_second,
    qjstbffl / 256 AS mb_used,
    qjstciwr AS pages_written,
    qjstlogw AS write_requests,
    write_requests / nullif(interval_seconds, 0) AS writes_per_second,
    coalesce(pages, qjstciwr) / nullif(coalesce(ios, qjstlogw), 0) AS pages_per_write,
    io_wait,
    100 * io_wait / nullif(interval_seconds * 1e6, 0) AS io_busy,
    100 * (1 - qjstslptu / nullif(interval_seconds * 1e6, 0)) AS task_busy,
    ios AS write_ios,
    elapsed AS write_elapsed,
    elapsed / nullif(elapsed_of, 0) AS elapsed_per_write,
    longest AS longest_write,
    longest_suspended AS longest_wait,
    qjstwtb AS waits_for_buffers,
    qjstllcp AS checkpoints,
    qjstwrw AS write_wait, qjstwrnw AS write_nowait, qjstwrf AS write_force,
    qjstbffl AS cis_created, qjstbfwr AS buffer_writes,
    qjstlsus AS suspended_requests, qjstserw AS serial_writes, qjstthrw AS threshold_writes,
    qjstbpag AS buffer_page_ins,
    (qjstrbuf::BIGINT + qjstract + qjstrarh)::BIGINT AS read_requests,
    qjstrbuf AS read_buffer, qjstract AS read_active, qjstrarh AS read_archive,
    qjstwur AS reads_delayed, qjsttvc AS reads_delayed_maxrtu,
    qjstlama AS lookahead_mounts, qjstlams AS lookahead_mounts_done,
    qjstalr AS archive_reads, qjstalw AS archive_writes, qjstciof AS cis_offloaded,
    qjstbsds AS bsds_requests,
    qjstcmpreq AS compressions, qjstcmpfail AS compressions_failed,
    qjstcmpuncmp AS compressed_from, qjstcmpcomp AS compressed_to,
    100 * (1 - qjstcmpcomp::DOUBLE / nullif(qjstcmpuncmp, 0)) AS compression_saved,
    qjstdecreq AS decompressions, qjstdecfail AS decompressions_failed,
    qjstdeccomp AS decompressed_from, qjstdecuncmp AS decompressed_to,
    qjstcp1n AS new_logs_copy_1, qjstcp2n AS new_logs_copy_2,
    qjsthwe AS new_logs_zhyperwrite, qjsthle AS new_logs_zhyperlink, qjstencr AS new_logs_encrypted,
    qjsthlsciw AS zhyperlink_one_page_writes,
    qjsthlsciwttot / nullif(qjsthlsciw, 0) AS zhyperlink_one_page_average,
    qjsthlsciwtmax AS zhyperlink_one_page_longest,
    qjsthlmciw AS zhyperlink_multi_page_writes,
    qjsthlmciwttot / nullif(qjsthlmciw, 0) AS zhyperlink_multi_page_average,
    qjsthlmciwtmax AS zhyperlink_multi_page_longest
FROM log
