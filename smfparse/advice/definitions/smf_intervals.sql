-- The intervals of a queue manager's statistics, the gaps between them, and a row for class 3 records (WTAS) that begin
-- long before the first interval: the first record of a task contains all values since the task began.
WITH
intervals AS (
    SELECT *
    FROM intervals_of_qmgrs('inputs.qmst', 'inputs.qjst', 'inputs.qcct', 'inputs.wtid', 'inputs.qcst')
    WHERE source = 1
),
begun AS (
    SELECT system, qmgr, min(started) AS first, any_value(typical) AS usual
    FROM intervals
    GROUP BY ALL
),
tasks AS (
    SELECT
        system, qmgr, min(interval_start) AS start, max(interval_seconds) AS seconds,
        any_value(wtas.utc_offset) AS utc_offset, any_value(wtas.mq_version) AS mq_version,
        any_value(usual) AS usual
    FROM inputs.wtas
    JOIN begun USING (system, qmgr)
    WHERE epoch_us(interval_start) < epoch_us(first) - 3e6 * usual
        AND interval_seconds BETWEEN 0 AND 1e9
    GROUP BY system, qmgr
)
SELECT
    system, qmgr, '' AS object, '' AS job, started AS start, seconds, utc_offset, mq_version, typical AS usual,
    FALSE AS is_gap, kind IN ('first', 'stub') AND NOT is_restart AS is_first, is_restart,
    missing, gap
FROM intervals
UNION ALL BY NAME
SELECT
    system, qmgr, '' AS object, '' AS job, started - to_microseconds(round(1e6 * gap)::BIGINT) AS start,
    gap AS seconds, utc_offset, mq_version, typical AS usual, TRUE AS is_gap, FALSE AS is_first,
    FALSE AS is_restart
FROM intervals
WHERE gap > 0 AND NOT is_restart
UNION ALL BY NAME
SELECT
    system, qmgr, '' AS object, '' AS job, start, seconds, utc_offset, mq_version, usual,
    FALSE AS is_gap, TRUE AS is_first, FALSE AS is_restart
FROM tasks
