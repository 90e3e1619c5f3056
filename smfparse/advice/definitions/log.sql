-- A log in an interval, and its switches in the last half hour. `behind`: number of logs that are not archived, from
-- the control intervals created minus those archived. `behind_most`: the maximum of `behind` over consecutive intervals
-- in which it is above 1.
WITH
copies AS (
    SELECT
        *,
        -- The average without the longest write: a single stall has its own rule.
        (io_1_1_average * io_1_1_count - io_1_1_longest) / nullif(io_1_1_count::BIGINT - 1, 0) AS first_copy,
        (io_2_1_average * io_2_1_count - io_2_1_longest) / nullif(io_2_1_count::BIGINT - 1, 0) AS second_copy,
        sum(cis_created::DOUBLE) OVER its / nullif(sum(coalesce(new_logs_copy_1, switches)) OVER its, 0) AS log_size,
        sum(cis_offloaded::DOUBLE) OVER its AS all_archived,
        sum(cis_created::DOUBLE - cis_offloaded) OVER until_now AS kept
    FROM rows
    WINDOW
        its AS (PARTITION BY system, qmgr),
        until_now AS (PARTITION BY system, qmgr ORDER BY start, sequence ROWS UNBOUNDED PRECEDING)
),
waiting AS (
    SELECT
        *, (kept - least(min(kept) OVER until_now, 0)) / log_size AS behind,
        coalesce(behind > 1 AND all_archived > 0, FALSE) AS is_behind
    FROM copies
    WINDOW until_now AS (PARTITION BY system, qmgr ORDER BY start, sequence ROWS UNBOUNDED PRECEDING)
),
numbered AS (
    SELECT
        *, count(*) FILTER (NOT is_behind)
            OVER (PARTITION BY system, qmgr ORDER BY start, sequence ROWS UNBOUNDED PRECEDING) AS run
    FROM waiting
)
SELECT
    *, max(CASE WHEN is_behind THEN behind END) OVER (PARTITION BY system, qmgr, run) AS behind_most,
    greatest(first_copy, second_copy) AS slower_copy, least(first_copy, second_copy) AS faster_copy,
    quantile_cont(greatest(first_copy, second_copy), 0.25) OVER its AS usual_slower,
    CASE longest_write
        WHEN io_1_1_longest THEN io_1_1_longest_at WHEN io_1_2_longest THEN io_1_2_longest_at
        WHEN io_2_1_longest THEN io_2_1_longest_at ELSE io_2_2_longest_at
    END AS longest_at,
    (multi_page_elapsed - one_page_elapsed) / nullif(multi_page_pages - 1, 0) AS slope,
    sum(switches) OVER half_an_hour AS recent_switches,
    sum(seconds) OVER half_an_hour AS recent_seconds
FROM numbered
WINDOW its AS (PARTITION BY system, qmgr), half_an_hour AS (
    PARTITION BY system, qmgr ORDER BY start RANGE BETWEEN INTERVAL 1799 SECONDS PRECEDING AND CURRENT ROW
)
