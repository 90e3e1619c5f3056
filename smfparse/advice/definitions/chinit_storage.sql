-- Storage of the channel initiator in an interval, its trend, and the trend of the number of channels: least squares
-- over the last 24 intervals, or the last four hours if they are longer. A limit of 17,592,186,040,320 MB means no
-- limit.
WITH
timed AS (
    SELECT
        *, epoch(start) AS moment, greatest(24, ceil(14400 / nullif(seconds, 0)))::BIGINT AS intervals
    FROM rows
)
SELECT
    *, storage_mb - lag(storage_mb, 1, storage_mb) OVER its AS grown_mb,
    count(*) OVER recent AS known, 3600 * regr_slope(storage_mb, moment) OVER recent AS mb_an_hour,
    mb_an_hour > 0 AND regr_r2(storage_mb, moment) OVER recent * (known - 2)
        > 4.3 * (1 - regr_r2(storage_mb, moment) OVER recent) AS rising,
    coalesce(regr_slope(current_channels, moment) OVER recent > 0, FALSE) AS more_channels
FROM timed
WINDOW
    its AS (PARTITION BY system, qmgr ORDER BY moment, sequence),
    recent AS (PARTITION BY system, qmgr ORDER BY moment, sequence ROWS BETWEEN intervals - 1 PRECEDING AND CURRENT ROW)
