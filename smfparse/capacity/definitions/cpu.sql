-- CPU of API calls (WQST, WTAS).
WITH
calls AS (
    SELECT system, qmgr, sum(calls)::BIGINT AS calls, total(cpu) AS cpu FROM task GROUP BY ALL
),
times AS (
    SELECT system, qmgr, covered(time, interval_seconds) AS seconds FROM wtas GROUP BY ALL
)
SELECT
    system, qmgr,
    cpu / nullif(calls, 0) AS cost_us,
    cpu / 1000 / nullif(seconds, 0) AS cpu_ms_a_second
FROM calls
JOIN times USING (system, qmgr)
ORDER BY system, qmgr
