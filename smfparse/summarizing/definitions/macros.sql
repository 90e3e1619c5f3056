-- The minute, UTC, that has the middle of an interval.
CREATE OR REPLACE MACRO middle_minute(start, seconds) AS
    time_bucket(INTERVAL 1 MINUTE, start + to_microseconds((seconds * 5e5)::BIGINT));
