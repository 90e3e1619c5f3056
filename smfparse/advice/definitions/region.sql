-- The region of the queue manager at the end of an interval, the storage pool that grew most, and the trend of
-- available 31-bit storage: least squares over the previous day, if at least 24 records cover at least 20 hours. The
-- time of a record without an MQ time is its SMF time.
WITH
intervals AS (
    SELECT DISTINCT system, qmgr, interval_start AS start, interval_seconds AS seconds, utc_offset
    FROM storage_figures
),
offsets AS (
    SELECT system, qmgr, max(utc_offset) AS known FROM intervals GROUP BY ALL
),
regions AS (
    SELECT
        r.* REPLACE (coalesce(utc_offset, known, 0) AS utc_offset),
        coalesce(time, (smf_time - to_seconds(coalesce(utc_offset, known, 0))) AT TIME ZONE 'UTC') AS taken
    FROM region_figures AS r
    LEFT JOIN offsets USING (system, qmgr)
),
pools AS (
    SELECT
        system, qmgr, smf_time, arg_max(object, grown) AS pool, max(grown) AS pool_grown
    FROM storage_pool_figures
    WHERE NOT is_64_bit
    GROUP BY system, qmgr, smf_time
),
snapshots AS (
    SELECT
        r.system, r.qmgr, coalesce(i.start, taken) AS start, coalesce(i.seconds, 0) AS seconds, r.utc_offset,
        r.mq_version, pool, pool_grown, epoch(taken) AS moment,
        available, available::DOUBLE / 1048576 AS available_mb, reserved,
        available_64 / 1048576 AS available_64_mb, memlimit_mb
    FROM regions AS r
    ASOF LEFT JOIN intervals AS i ON r.system = i.system AND r.qmgr = i.qmgr AND taken > i.start
    ASOF LEFT JOIN pools AS p
        ON r.system = p.system AND r.qmgr = p.qmgr AND r.smf_time + INTERVAL 1 MINUTE >= p.smf_time
)
SELECT
    system, qmgr, '' AS object, '' AS job, start, seconds, utc_offset, mq_version,
    pool, pool_grown, available, available_mb, reserved, available_64_mb, memlimit_mb,
    count(*) OVER one_day AS moments, regr_slope(available_mb, moment) OVER one_day AS slope,
    regr_r2(available_mb, moment) OVER one_day AS fit,
    CASE
        WHEN moments >= 24 AND moment - min(moment) OVER one_day >= 72000
            AND slope < 0 AND fit * (moments - 2) > 4.3 * (1 - fit)
            -- Storage that is available again was not lost by a leak.
            AND available_mb <= 1.02 * min(available_mb) OVER one_day
        THEN (available_mb - reserved / 1048576) / -slope / 3600
    END AS hours_to_end
FROM snapshots
WINDOW one_day AS (PARTITION BY system, qmgr ORDER BY moment RANGE BETWEEN 86400 PRECEDING AND CURRENT ROW)
