-- The log (QJST, QJST_IO): its rate, and the time of I/Os of one page and of several, of the slower copy.
WITH
kinds AS (
    SELECT
        system, qmgr, copy, io_type,
        sum(qjstioci) / nullif(sum(qjstiocount), 0) AS pages,
        total(qjstiototio) / nullif(sum(qjstiocount), 0) AS us
    FROM qjst_io
    GROUP BY ALL
),
lines AS (
    SELECT
        one.system, one.qmgr, one.us AS one_page_us, more.pages AS more_pages,
        more.us AS more_pages_us,
        one.us + (more.us - one.us) / (more.pages - 1) * 127 AS longest, one.copy
    FROM kinds AS one
    JOIN kinds AS more USING (system, qmgr, copy)
    WHERE one.io_type = 1 AND more.io_type = 2 AND one.us > 0 AND more.us > one.us AND more.pages > 1
),
slower AS (
    SELECT
        system, qmgr,
        arg_max({
            'one_page_us': one_page_us, 'more_pages': more_pages, 'more_pages_us': more_pages_us
        }, (longest, copy)) AS line
    FROM lines
    GROUP BY ALL
),
persistent AS (
    SELECT system, qmgr, sum(qmstspp)::BIGINT AS messages FROM qmst GROUP BY ALL
),
puts AS (SELECT system, qmgr, bytes / nullif(messages, 0) / 1024 AS kb FROM puts_of_managers('wqst'))
SELECT
    system, qmgr, mb_s, pages_an_io AS pages, io_busy, busy, copies,
    line.one_page_us, line.more_pages, line.more_pages_us,
    4096 * created / nullif(messages, 0) AS bytes_each,
    kb AS message_kb
FROM log_rates('qjst', 'qjst_io')
LEFT JOIN slower USING (system, qmgr)
LEFT JOIN persistent USING (system, qmgr)
LEFT JOIN puts USING (system, qmgr)
WHERE mb_s > 0 AND busy > 0 AND io_busy > 0
ORDER BY system, qmgr
