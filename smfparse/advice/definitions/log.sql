-- A log in an interval, and how often it was switched in half an hour.
SELECT
    *,
    (multi_page_elapsed - one_page_elapsed) / nullif(multi_page_pages - 1, 0) AS slope,
    sum(switches) OVER half_an_hour AS recent_switches,
    sum(seconds) OVER half_an_hour AS recent_seconds
FROM rows
WINDOW half_an_hour AS (
    PARTITION BY system, qmgr ORDER BY start RANGE BETWEEN INTERVAL 1799 SECONDS PRECEDING AND CURRENT ROW
)
