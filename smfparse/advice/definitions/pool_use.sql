-- Gets from the queues of a buffer pool in an interval, how long the messages were on the queues, and the average
-- distance of checkpoints over the whole input. A class 3 record is counted in the interval of the pool's statistics
-- that contains the middle of the record. Records that cover more than three intervals are omitted.
WITH
checkpoints AS (
    SELECT system, qmgr, total(interval_seconds) / sum(checkpoints) AS seconds_each
    FROM log_figures
    GROUP BY ALL
    HAVING sum(checkpoints) > 0
),
uses AS (
    SELECT
        system, qmgr, buffer_pool, interval_seconds AS length,
        interval_start + to_microseconds((5e5 * interval_seconds)::BIGINT) AS middle,
        total(time_on_queue_average_amount) AS on_queue_us, sum(time_on_queue_average_per)::DOUBLE AS got,
        sum(getpsn)::DOUBLE AS waits
    FROM queue_use_figures
    WHERE structure IS NULL AND messages_got > 0
    GROUP BY ALL
)
SELECT
    uses.system AS system, uses.qmgr AS qmgr, uses.buffer_pool::VARCHAR AS object, '' AS job,
    interval_start AS start, interval_seconds AS seconds, any_value(utc_offset) AS utc_offset,
    max(mq_version) AS mq_version,
    total(got) AS got, total(on_queue_us) AS on_queue_us, total(waits) AS waits,
    any_value(seconds_each) AS checkpoint_seconds
FROM uses
ASOF JOIN pool_figures AS pools
    ON uses.system = pools.system AND uses.qmgr = pools.qmgr AND uses.buffer_pool = pools.buffer_pool
    AND uses.middle >= interval_start
LEFT JOIN checkpoints ON checkpoints.system = uses.system AND checkpoints.qmgr = uses.qmgr
WHERE middle < interval_start + to_microseconds((1e6 * interval_seconds)::BIGINT) AND length <= 3 * interval_seconds
GROUP BY ALL
