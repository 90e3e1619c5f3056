-- The log of a queue manager in an interval: QJST, and QJST_IO by copy and by the number of pages of an I/O.
WITH
writes AS (
    SELECT
        input_no, source, record_no,
        sum(qjstiocount) AS ios, sum(qjstioci) AS pages, total(qjstiototio) AS io_us,
        max(qjstiomaxio) AS longest_us, arg_max(qjstiomaxiol, qjstiomaxio) AS longest_log,
        sum(CASE WHEN io_type = 1 THEN qjstiocount END) AS single_ios,
        total(CASE WHEN io_type = 1 THEN qjstiototio END) AS single_us,
        sum(CASE WHEN io_type = 2 THEN qjstiocount END) AS many_ios,
        sum(CASE WHEN io_type = 2 THEN qjstioci END) AS many_pages,
        total(CASE WHEN io_type = 2 THEN qjstiototio END) AS many_us,
        sum(CASE WHEN io_type = 1 AND copy = 1 THEN qjstiocount END) AS single_ios_1,
        sum(CASE WHEN io_type = 1 AND copy = 2 THEN qjstiocount END) AS single_ios_2,
        total(CASE WHEN io_type = 1 AND copy = 1 THEN qjstiototio END) AS single_us_1,
        total(CASE WHEN io_type = 1 AND copy = 2 THEN qjstiototio END) AS single_us_2
    FROM inputs.qjst_io
    GROUP BY ALL
),
busy AS (
    SELECT input_no, source, record_no, max(suspended) AS suspended_us, max(pages) AS copy_pages
    FROM (
        SELECT
            input_no, source, record_no, copy,
            total(qjstiototsus) AS suspended, sum(qjstioci) AS pages
        FROM inputs.qjst_io
        GROUP BY ALL
    )
    GROUP BY ALL
)
SELECT
    system, qmgr, '' AS object, '' AS job, interval_start AS start, interval_seconds AS seconds,
    utc_offset, mq_version,
    qjstwtb::DOUBLE AS qjstwtb, qjsttvc::DOUBLE AS qjsttvc, qjstrarh::DOUBLE AS qjstrarh,
    qjstllcp::DOUBLE AS qjstllcp, qjstalw::DOUBLE AS qjstalw, qjstciof::DOUBLE AS qjstciof,
    qjstbffl::DOUBLE AS qjstbffl, qjstbpag::DOUBLE AS qjstbpag, qjstcmpreq::DOUBLE AS qjstcmpreq,
    qjstcmpfail::DOUBLE AS qjstcmpfail, qjstcmpuncmp::DOUBLE AS qjstcmpuncmp, qjstcmpcomp::DOUBLE AS qjstcmpcomp,
    qjsthwc::DOUBLE AS qjsthwc, qjsthwe::DOUBLE AS qjsthwe,
    qjsthlsciw::BIGINT + qjsthlmciw AS fast_writes, qjsthlscif::BIGINT + qjsthlmcif AS fast_failures,
    qjstrbuf::BIGINT + qjstract + qjstrarh AS reads, qjstwrnw::BIGINT + qjstwrf AS writes,
    100 * (1 - qjstslptu / nullif(interval_seconds * 1e6, 0)) AS busy,
    qjstslptu IS NOT NULL AS has_io,
    CASE WHEN has_io THEN 100 * coalesce(suspended_us, 0) / nullif(interval_seconds * 1e6, 0) END AS io_busy,
    CASE WHEN has_io THEN coalesce(copy_pages, 0) / 256 END AS mb,
    CASE WHEN has_io THEN coalesce(io_us, 0) END AS io_us,
    CASE WHEN has_io THEN coalesce(single_us, 0) END AS single_us,
    CASE WHEN has_io THEN coalesce(single_us_1, 0) END AS single_us_1,
    CASE WHEN has_io THEN coalesce(single_us_2, 0) END AS single_us_2,
    CASE WHEN has_io THEN coalesce(longest_us, 0) END AS longest_us,
    coalesce(ios, qjstlogw)::BIGINT AS ios, coalesce(pages, qjstciwr)::BIGINT AS pages,
    coalesce(single_ios, 0)::BIGINT AS single_ios,
    coalesce(single_ios_1, 0)::BIGINT AS single_ios_1, coalesce(single_ios_2, 0)::BIGINT AS single_ios_2,
    coalesce(many_ios, 0)::BIGINT AS many_ios, coalesce(many_pages, 0)::BIGINT AS many_pages,
    coalesce(many_us, 0) AS many_us,
    pages / nullif(ios, 0) AS pages_per_io, longest_log,
    (many_us / nullif(many_ios, 0) - single_us / nullif(single_ios, 0))
        / nullif(many_pages / nullif(many_ios, 0) - 1, 0) AS slope,
    qjstalw / CASE WHEN single_ios_2 > 0 THEN 2 ELSE 1 END AS switches,
    sum(switches) OVER half_an_hour AS recent_switches,
    sum(interval_seconds) OVER half_an_hour AS recent_seconds
FROM inputs.qjst
LEFT JOIN writes USING (input_no, source, record_no)
LEFT JOIN busy USING (input_no, source, record_no)
WINDOW half_an_hour AS (
    PARTITION BY system, qmgr ORDER BY interval_start
    RANGE BETWEEN INTERVAL 1799 SECONDS PRECEDING AND CURRENT ROW
)
