-- LOG: one row per section. What the log manager did (QJST) and how its write I/O went (QJST_IO).
-- Figures whose fields the release did not write yet are NULL.
WITH
io AS (
    SELECT
        section, copy, io_type,
        sum(qjstiocount)::BIGINT AS ios,
        sum(qjstioci)::BIGINT AS pages,
        total(qjstiototio) AS io_us, sum(qjstiototio_n)::BIGINT AS timed,
        max(qjstiomaxio) AS longest_us,
        of_largest(qjstiomaxiot, qjstiomaxio, sequence) AS longest_at,
        of_largest(qjstiomaxiol, qjstiomaxio, sequence) AS longest_log
    FROM sectioned.qjst_io
    GROUP BY ALL
),
kinds AS (
    SELECT
        section,
        any_value(io) FILTER (copy = 1 AND io_type = 1) AS io_1_1,
        any_value(io) FILTER (copy = 1 AND io_type = 2) AS io_1_2,
        any_value(io) FILTER (copy = 2 AND io_type = 1) AS io_2_1,
        any_value(io) FILTER (copy = 2 AND io_type = 2) AS io_2_2
    FROM io
    GROUP BY section
),
log AS (
    SELECT w.*, k.* EXCLUDE (section)
    FROM log_writes('grouped.qjst', 'sectioned.qjst', 'sectioned.qjst_io') AS w
    LEFT JOIN kinds AS k USING (section)
)
SELECT
    section,
    mb_written,
    mb_per_second,
    mb_per_second AS log_write_rate,
    mb_written AS log_mb_written,
    qjstbffl / 256 AS mb_used,
    mb_used AS log_mb_used,
    pages_per_write,
    qjstllcp AS checkpoints,
    qjstwtb AS waits_for_buffers,
    qjstciwr AS pages_written,
    qjstlogw AS write_requests,
    qjstrbuf::BIGINT + qjstract + qjstrarh AS read_requests,
    pages_per_copy,
    io_busy,
    task_busy,
    CASE WHEN has_io THEN coalesce(io_1_1.ios, 0) END AS io_1_1_count,
    CASE WHEN has_io THEN coalesce(io_1_1.pages, 0) END AS io_1_1_pages,
    io_1_1.io_us / nullif(io_1_1.timed, 0) AS io_1_1_average,
    io_1_1.longest_us AS io_1_1_longest,
    io_1_1.longest_at AS io_1_1_longest_at,
    io_1_1.longest_log AS io_1_1_longest_log,
    CASE WHEN has_io THEN coalesce(io_1_2.ios, 0) END AS io_1_2_count,
    CASE WHEN has_io THEN coalesce(io_1_2.pages, 0) END AS io_1_2_pages,
    io_1_2.io_us / nullif(io_1_2.timed, 0) AS io_1_2_average,
    io_1_2.longest_us AS io_1_2_longest,
    io_1_2.longest_at AS io_1_2_longest_at,
    io_1_2.longest_log AS io_1_2_longest_log,
    CASE WHEN has_io THEN coalesce(io_2_1.ios, 0) END AS io_2_1_count,
    CASE WHEN has_io THEN coalesce(io_2_1.pages, 0) END AS io_2_1_pages,
    io_2_1.io_us / nullif(io_2_1.timed, 0) AS io_2_1_average,
    io_2_1.longest_us AS io_2_1_longest,
    io_2_1.longest_at AS io_2_1_longest_at,
    io_2_1.longest_log AS io_2_1_longest_log,
    CASE WHEN has_io THEN coalesce(io_2_2.ios, 0) END AS io_2_2_count,
    CASE WHEN has_io THEN coalesce(io_2_2.pages, 0) END AS io_2_2_pages,
    io_2_2.io_us / nullif(io_2_2.timed, 0) AS io_2_2_average,
    io_2_2.longest_us AS io_2_2_longest,
    io_2_2.longest_at AS io_2_2_longest_at,
    io_2_2.longest_log AS io_2_2_longest_log,
    qjstcmpreq AS compressions,
    qjstcmpfail AS compressions_failed,
    qjstcmpuncmp AS compressed_from,
    qjstcmpcomp AS compressed_to,
    qjstdecreq AS decompressions,
    qjstdecfail AS decompressions_failed,
    qjstwrw AS write_wait,
    qjstwrnw AS write_nowait,
    qjstwrf AS write_force,
    qjstrbuf AS read_buffer,
    qjstract AS read_active,
    qjstrarh AS read_archive,
    qjstbsds AS bsds_requests,
    qjstbffl AS cis_created,
    qjstbfwr AS buffer_writes,
    qjstalw AS archive_writes,
    qjstciof AS cis_offloaded,
    qjstwur AS reads_delayed,
    qjsttvc AS reads_delayed_maxrtu,
    qjstlama AS lookahead_mounts,
    qjstlams AS lookahead_mounts_done,
    qjsthlsciwttot / nullif(qjsthlsciw, 0) AS hyperlink_one_average,
    qjsthlmciwttot / nullif(qjsthlmciw, 0) AS hyperlink_multi_average,
    qjstlsus, qjstserw, qjstthrw, qjstbpag, qjstalr, qjstdeccomp, qjstdecuncmp, qjstcp1n,
    qjstcp2n, qjsthwc, qjsthwe, qjstencr, qjsthlc, qjsthle, qjsthlsciw, qjsthlscis, qjsthlscif,
    qjsthlscicon, qjsthlsciwtmax, qjsthlmciw, qjsthlmcis, qjsthlmcif, qjsthlmcicon,
    qjsthlmciwtmax, qjsthlcicntw, qjsthlcicnts, qjsthlcicntf, qjsthlconcicnt
FROM log
