-- What a queue manager asks of Db2 in an interval, and how long a request usually is.
SELECT
    *, quantile_cont(request_elapsed / nullif(requests, 0), 0.25) OVER (PARTITION BY system, qmgr) AS usual_us
FROM rows
