-- The log manager in an interval: QJST, and what its writes were (QJST_IO), by copy and by one page or several of an
-- I/O. Both copies are written at once, so that of an interval the copy counts that wrote or waited more.
CREATE OR REPLACE MACRO log_facts(logs, writes) AS TABLE
WITH
kinds AS (
    SELECT
        input_no, source, record_no, block_no, copy, io_type,
        {
            'ios': qjstiocount, 'pages': qjstioci, 'us': qjstiototio, 'timed': timed(qjstiocount, qjstiototio),
            'suspended': qjstiototsus, 'longest': qjstiomaxio, 'longest_suspended': qjstiomaxsus,
            'at': qjstiomaxiot, 'log': qjstiomaxiol
        } AS io
    FROM query_table(writes)
),
io AS (
    SELECT
        input_no, source, record_no, block_no,
        any_value(io) FILTER (copy = 1 AND io_type = 1) AS io_1_1,
        any_value(io) FILTER (copy = 1 AND io_type = 2) AS io_1_2,
        any_value(io) FILTER (copy = 2 AND io_type = 1) AS io_2_1,
        any_value(io) FILTER (copy = 2 AND io_type = 2) AS io_2_2,
        sum(io.ios)::BIGINT AS ios, sum(io.pages)::BIGINT AS pages,
        total(io.us) AS us, sum(io.timed)::BIGINT AS timed,
        max(io.longest) AS longest, arg_max(io.log, io.longest) AS log_of_longest,
        max(io.longest_suspended) AS longest_suspended,
        greatest(sum(io.pages) FILTER (copy = 1), sum(io.pages) FILTER (copy = 2))::BIGINT AS copy_pages,
        greatest(
            total(CASE WHEN copy = 1 THEN io.suspended END), total(CASE WHEN copy = 2 THEN io.suspended END)
        ) AS copy_suspended
    FROM kinds
    GROUP BY ALL
)
SELECT
    logs.*, qjstslptu IS NOT NULL AS has_io,
    io.* EXCLUDE (input_no, source, record_no, block_no, ios, pages, us, timed, copy_pages, copy_suspended),
    CASE WHEN has_io THEN coalesce(ios, 0) END AS ios, CASE WHEN has_io THEN coalesce(pages, 0) END AS pages,
    CASE WHEN has_io THEN coalesce(us, 0) END AS us, CASE WHEN has_io THEN coalesce(timed, 0) END AS timed,
    CASE WHEN has_io THEN coalesce(copy_pages, 0) END AS copy_pages,
    CASE WHEN has_io THEN coalesce(copy_suspended, 0) END AS copy_suspended
FROM query_table(logs) AS logs
LEFT JOIN io USING (input_no, source, record_no, block_no);
