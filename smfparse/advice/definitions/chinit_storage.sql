-- Storage of the channel initiator in an interval: QCCT, and how it moves beside the number of channels: least
-- squares over the last 24 intervals, or four hours if these are more. 17,592,186,040,320 is no limit.
WITH
used AS (
    SELECT
        system, qmgr, interval_start, interval_seconds, utc_offset, mq_version, epoch(interval_start) AS moment,
        qcctstus::DOUBLE AS used_mb, qcctnocc::DOUBLE AS channels, qcctmxcc::BIGINT AS most_channels,
        qcctstab::DOUBLE AS used_64_mb, qcctslim::DOUBLE AS limit_64_mb,
        greatest(24, ceil(14400 / nullif(interval_seconds, 0)))::BIGINT AS intervals
    FROM inputs.qcct
),
moved AS (
    SELECT
        *, used_mb - lag(used_mb, 1, used_mb) OVER its AS grown_mb,
        count(*) OVER recent AS known, regr_slope(used_mb, moment) OVER recent AS slope,
        regr_r2(used_mb, moment) OVER recent AS fit, regr_slope(channels, moment) OVER recent AS channel_slope
    FROM used
    WINDOW
        its AS (PARTITION BY system, qmgr ORDER BY moment),
        recent AS (PARTITION BY system, qmgr ORDER BY moment ROWS BETWEEN intervals - 1 PRECEDING AND CURRENT ROW)
)
SELECT
    system, qmgr, '' AS object, '' AS job, interval_start AS start, interval_seconds AS seconds, utc_offset,
    mq_version, used_mb, channels, most_channels, used_64_mb, limit_64_mb, grown_mb, known,
    3600 * slope AS mb_an_hour,
    slope > 0 AND fit * (known - 2) > 4.3 * (1 - fit) AS rising, coalesce(channel_slope > 0, FALSE) AS more_channels
FROM moved
