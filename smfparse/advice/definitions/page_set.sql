-- A page set in an interval, with changes since the previous interval, and the trend over the previous day. A rise is
-- consecutive intervals in which the page set grows.
WITH
moved AS (
    SELECT *, used - lag(used, 1, used) OVER (PARTITION BY system, qmgr, object ORDER BY start, sequence) AS grown
    FROM rows
),
numbered AS (
    SELECT
        *, sum(CASE WHEN grown > 0 THEN 0 ELSE 1 END)
            OVER (PARTITION BY system, qmgr, object ORDER BY start, sequence ROWS UNBOUNDED PRECEDING) AS rise
    FROM moved
)
SELECT
    * EXCLUDE (rise), epoch(start) AS moment,
    sum(CASE WHEN grown > 0 THEN seconds END) OVER one_rise AS rise_seconds,
    sum(CASE WHEN grown > 0 THEN grown END) OVER one_rise AS rise_pages,
    count(*) FILTER (grown > 0) OVER one_rise AS rise_intervals,
    CASE
        WHEN moment - min(moment) OVER one_day >= 43200 AND regr_r2(used, moment) OVER one_day > 0.8
        THEN free_pages / nullif(greatest(3600 * regr_slope(used, moment) OVER one_day, 0), 0)
    END AS hours_to_full,
    expansions_since_start
        - lag(expansions_since_start, 1, expansions_since_start) OVER interval_before AS expansions,
    message_pages - first_value(message_pages) OVER interval_before AS messages_grown
FROM numbered
WINDOW
    one_rise AS (PARTITION BY system, qmgr, object, rise),
    interval_before AS (PARTITION BY system, qmgr, object ORDER BY start, sequence),
    one_day AS (PARTITION BY system, qmgr, object ORDER BY moment RANGE BETWEEN 86400 PRECEDING AND CURRENT ROW)
