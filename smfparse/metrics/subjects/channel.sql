-- A channel instance in an interval: QCST, and for how long it was active in it.
CREATE OR REPLACE MACRO channel_facts(channels) AS TABLE
SELECT
    *,
    CASE WHEN interval_seconds BETWEEN 0 AND 1e9
        THEN interval_start + to_microseconds(round(interval_seconds * 1e6)::BIGINT) END AS ends,
    CASE WHEN ends IS NOT NULL THEN greatest(
        epoch_us(least(ends, qcstludt)) - epoch_us(greatest(interval_start, qcststrt)), 0
    ) / 1e6 END AS active
FROM query_table(channels);
