-- Intervals of statistics that began with a start of the queue manager, or cover time before the trace. A record counts
-- on the side that contains `counted_at`.
WITH recorded AS (
    SELECT
        system, qmgr, interval_start AS started, interval_end AS ended, counted_at,
        max(sequence_no) AS sequence_no, max(utc_offset) AS utc_offset, (epoch_us(ended) - epoch_us(started)) / 1e6 AS seconds,
        {'system': system, 'qmgr': qmgr} AS alike
    FROM (
        SELECT system, qmgr, interval_start, interval_end, counted_at, sequence_no, utc_offset
        FROM sectioned.qjst
        UNION ALL
        SELECT system, qmgr, interval_start, interval_end, counted_at, sequence_no, utc_offset
        FROM sectioned.qmst
        UNION ALL
        SELECT system, qmgr, interval_start, interval_end, counted_at, sequence_no, utc_offset
        FROM sectioned.qpst
    )
    WHERE interval_end IS NOT NULL
    GROUP BY ALL
)
SELECT
    system, qmgr, started AS interval_start, ended AS interval_end, counted_at, kind AS mark
FROM intervals_in_order('recorded')
WHERE kind IN ('first', 'stub')
ORDER BY ALL
