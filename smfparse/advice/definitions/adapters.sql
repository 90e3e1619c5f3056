-- All adapters of a channel initiator in an interval, and the streamed messages, from statistics of queues.
WITH
together AS (FROM tasks_together('rows')),
copied AS (
    SELECT system, qmgr, interval_start AS start, sum(streamed)::DOUBLE AS streamed
    FROM queue_figures
    GROUP BY ALL
)
SELECT
    together.*, NULL AS sequence, streamed,
    quantile_cont(elapsed / cpu, 0.25) FILTER (cpu > 0) OVER its AS usual_stretch,
    quantile_cont(cpu / requests, 0.25) FILTER (requests > 0 AND coalesce(streamed, 0) = 0) OVER its
        AS usual_cpu
FROM together
LEFT JOIN copied USING (system, qmgr, start)
WINDOW its AS (PARTITION BY system, qmgr)
