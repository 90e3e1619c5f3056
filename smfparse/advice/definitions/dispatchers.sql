-- All dispatchers of a channel initiator in an interval, and the compression of its channels.
WITH
together AS (FROM tasks_together('rows')),
busy_ones AS (
    SELECT system, qmgr, start, arg_max(channels, busy) AS its_channels FROM rows GROUP BY ALL
),
compressed AS (
    SELECT system, qmgr, interval_start AS start, max(compression)::DOUBLE AS compression
    FROM channel_figures
    GROUP BY ALL
)
SELECT
    together.*, NULL AS sequence, its_channels, coalesce(compression, 0) AS compression,
    quantile_cont(cpu / requests, 0.25) FILTER (requests > 0) OVER its AS usual_cpu
FROM together
LEFT JOIN busy_ones USING (system, qmgr, start)
LEFT JOIN compressed USING (system, qmgr, start)
WINDOW its AS (PARTITION BY system, qmgr)
