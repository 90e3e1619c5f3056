-- A page set in an interval, with what changed since the interval before, and how it grew in the day before.
SELECT
    *, used - lag(used, 1, used) OVER interval_before AS grown,
    epoch(start) AS moment,
    CASE
        WHEN moment - min(moment) OVER one_day >= 43200 AND regr_r2(used, moment) OVER one_day > 0.8
        THEN free_pages / nullif(greatest(3600 * regr_slope(used, moment) OVER one_day, 0), 0)
    END AS hours_to_full,
    expansions_since_start
        - lag(expansions_since_start, 1, expansions_since_start) OVER interval_before AS expansions,
    message_pages - first_value(message_pages) OVER interval_before AS messages_grown
FROM rows
WINDOW
    interval_before AS (PARTITION BY system, qmgr, object ORDER BY start),
    one_day AS (PARTITION BY system, qmgr, object ORDER BY moment RANGE BETWEEN 86400 PRECEDING AND CURRENT ROW)
