-- The DNS task in an interval. `is_clock_change`: the UTC offset of the system changed, so the local time of a request
-- can be an hour before or after the interval.
SELECT *, coalesce(lag(utc_offset) OVER its <> utc_offset, FALSE) AS is_clock_change
FROM rows
WINDOW its AS (PARTITION BY system, qmgr ORDER BY start, sequence)
