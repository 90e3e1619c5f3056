-- Db2 requests of a queue manager in an interval, and `usual_us`: the lower quartile of the time per request.
SELECT
    *, quantile_cont(request_elapsed / nullif(requests, 0), 0.25) OVER (PARTITION BY system, qmgr) AS usual_us
FROM rows
