-- One row per loss of SMF records (type 7); the object is the time at which the loss began. One more row per system
-- covers its whole time, so that the rule is also evaluated for a system without a loss.
WITH
losses AS (
    SELECT
        system, coalesce(smf7stm, smf_time) AS began, coalesce((epoch_us(smf_time) - epoch_us(smf7stm)) / 1e6, 0) AS seconds,
        utc_offset, lost_records(smf7nrf, smf7nro, smf7nrox) AS records
    FROM inputs.smf7
    WHERE smf_time IS NOT NULL
),
systems AS (
    SELECT
        system, min(smf_time) AS began, (epoch_us(max(smf_time)) - epoch_us(min(smf_time))) / 1e6 AS seconds,
        any_value(utc_offset) AS utc_offset
    FROM inputs.record
    WHERE smf_time IS NOT NULL
    GROUP BY system
)
SELECT
    system, NULL AS qmgr, strftime(began, '%Y/%m/%d %H:%M:%S') AS object, '' AS job,
    began - to_seconds(coalesce(utc_offset, 0)) AS start, greatest(seconds, 0) AS seconds, utc_offset, records,
    TRUE AS is_loss
FROM losses
UNION ALL
SELECT
    system, NULL, '', '', began - to_seconds(coalesce(utc_offset, 0)), seconds, utc_offset, NULL, FALSE
FROM systems
