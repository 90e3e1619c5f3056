-- The log: its rate, and the time of I/Os of one page and of several, of the slower copy.
WITH
logs AS (FROM log_by_qmgr('inputs.qjst', 'inputs.qjst_io')),
kinds AS (
    SELECT
        system, qmgr,
        unnest([
            {
                'one_page_us': io_1_1_average, 'more_pages': io_1_2_pages / nullif(io_1_2_count, 0),
                'more_pages_us': io_1_2_average
            },
            {
                'one_page_us': io_2_1_average, 'more_pages': io_2_2_pages / nullif(io_2_2_count, 0),
                'more_pages_us': io_2_2_average
            }
        ]) AS line
    FROM logs
),
slower AS (
    SELECT
        system, qmgr,
        arg_max(line, (line.one_page_us
            + (line.more_pages_us - line.one_page_us) / (line.more_pages - 1) * 127, line.more_pages)) AS line
    FROM kinds
    WHERE line.one_page_us > 0 AND line.more_pages_us > line.one_page_us AND line.more_pages > 1
    GROUP BY ALL
),
persistent AS (
    SELECT system, qmgr, sum(qmstspp)::BIGINT AS messages FROM qmst GROUP BY ALL
),
puts AS (SELECT system, qmgr, bytes / nullif(messages, 0) / 1024 AS kb FROM puts_of_managers('wqst'))
SELECT
    system, qmgr, mb_per_second AS mb_s, pages_per_write AS pages, io_busy, task_busy AS busy, copies,
    line.one_page_us, line.more_pages, line.more_pages_us,
    4096 * qjstbffl / nullif(messages, 0) AS bytes_each,
    kb AS message_kb
FROM logs
LEFT JOIN slower USING (system, qmgr)
LEFT JOIN persistent USING (system, qmgr)
LEFT JOIN puts USING (system, qmgr)
WHERE mb_s > 0 AND busy > 0 AND io_busy > 0
ORDER BY system, qmgr
