-- The intervals for which a queue manager wrote statistics (QMST), the gaps between them, and the first records of
-- class 3 (WTAS), which say all since their tasks began.
WITH
intervals AS (
    SELECT
        system, qmgr, interval_start AS start, interval_seconds AS seconds,
        any_value(utc_offset) AS utc_offset, any_value(mq_version) AS mq_version
    FROM inputs.qmst
    WHERE interval_start IS NOT NULL AND interval_seconds BETWEEN 0 AND 1e9
    GROUP BY ALL
),
spaced AS (
    SELECT
        *, median(seconds) OVER (PARTITION BY system, qmgr) AS usual,
        max(start + to_seconds(seconds)) OVER (
            PARTITION BY system, qmgr ORDER BY start
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS before,
        (epoch_us(start) - epoch_us(before)) / 1e6 AS apart
    FROM intervals
),
begun AS (
    SELECT system, qmgr, min(start) AS first, any_value(usual) AS usual
    FROM spaced
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
    system, qmgr, '' AS object, '' AS job, start, seconds, utc_offset, mq_version, usual,
    FALSE AS is_gap,
    (before IS NULL OR apart > 0.1 * usual)
        AND (seconds > 3 * usual OR (before IS NOT NULL AND seconds < 0.5 * usual)) AS is_first
FROM spaced
UNION ALL
SELECT
    system, qmgr, '', '', before, apart, utc_offset, mq_version, usual, TRUE, FALSE
FROM spaced
WHERE apart > 0.1 * usual
UNION ALL
SELECT system, qmgr, '', '', start, seconds, utc_offset, mq_version, usual, FALSE, TRUE
FROM tasks
