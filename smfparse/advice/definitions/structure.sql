-- A structure of the coupling facility in an interval. `usual_us`: the lower quartile of the duration of a request.
-- `busy`: number of structures called at least 1,000 times in the interval; `slow`: those above 3 x `usual_us`.
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
