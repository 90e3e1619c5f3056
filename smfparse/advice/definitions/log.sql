-- A log in an interval, and how often it was switched in half an hour.
SELECT
    *,
    greatest(first_copy, second_copy) AS slower_copy, least(first_copy, second_copy) AS faster_copy,
    quantile_cont(greatest(first_copy, second_copy), 0.25) OVER its AS usual_slower,
    CASE longest_write
        WHEN io_1_1_longest THEN io_1_1_longest_at WHEN io_1_2_longest THEN io_1_2_longest_at
        WHEN io_2_1_longest THEN io_2_1_longest_at ELSE io_2_2_longest_at
    END AS longest_at,
    (multi_page_elapsed - one_page_elapsed) / nullif(multi_page_pages - 1, 0) AS slope,
    sum(switches) OVER half_an_hour AS recent_switches,
    sum(seconds) OVER half_an_hour AS recent_seconds
FROM (
    SELECT
        *,
        -- Without the longest, which is one stall and has a rule of its own.
        (io_1_1_average * io_1_1_count - io_1_1_longest) / nullif(io_1_1_count::BIGINT - 1, 0) AS first_copy,
        (io_2_1_average * io_2_1_count - io_2_1_longest) / nullif(io_2_1_count::BIGINT - 1, 0) AS second_copy
    FROM rows
)
WINDOW its AS (PARTITION BY system, qmgr), half_an_hour AS (
    PARTITION BY system, qmgr ORDER BY start RANGE BETWEEN INTERVAL 1799 SECONDS PRECEDING AND CURRENT ROW
)
