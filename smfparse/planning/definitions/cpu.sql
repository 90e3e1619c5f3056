-- CPU of API calls (WQST, WTAS).
WITH
calls AS (
    SELECT system, qmgr, total(calls) AS calls, total(cpu) AS cpu FROM task GROUP BY ALL
)
SELECT
    system, qmgr,
    cpu / nullif(calls, 0) AS cost_us,
    cpu / 1000 / nullif(seconds, 0) AS cpu_ms_a_second
FROM calls
JOIN covered_of_qmgrs('wtas', 'qmst') USING (system, qmgr)
