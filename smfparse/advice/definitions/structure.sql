-- A structure of the coupling facility in an interval. `usual_us`: the lower quartile of the time per request. `slow`
-- and `busy`: numbers of structures that have slow requests, or at least 1,000 requests, in the same interval.
WITH
usual AS (
    SELECT
        *, quantile_cont(CASE WHEN single_requests >= 1000 THEN single_us / single_requests END, 0.25)
            OVER (PARTITION BY system, qmgr, object) AS usual_us
    FROM rows
    WHERE object <> ''
)
SELECT
    *, count(CASE WHEN single_requests >= 1000 AND single_us > 3 * usual_us * single_requests THEN 1 END)
        OVER at_the_time AS slow,
    count(CASE WHEN single_requests >= 1000 THEN 1 END) OVER at_the_time AS busy
FROM usual
WINDOW at_the_time AS (PARTITION BY system, qmgr, start)
