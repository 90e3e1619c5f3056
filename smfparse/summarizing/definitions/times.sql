-- When there is data of a queue manager. `kind` 1 are intervals of statistics, 2 of the channel initiator's, 3 the
-- minutes in which intervals of accounting have their middle, 0 seconds long. One whose length is not known is none.
SELECT
    system, qmgr, 1 AS kind, interval_start AS start, interval_seconds AS seconds,
    max(utc_offset) AS utc_offset, max(mq_version) AS mq_version
FROM (
    SELECT system, qmgr, interval_start, interval_seconds, utc_offset, mq_version FROM inputs.qmst
    UNION ALL
    SELECT system, qmgr, interval_start, interval_seconds, utc_offset, mq_version FROM inputs.qjst
)
WHERE interval_seconds IS NOT NULL
GROUP BY ALL
UNION ALL
SELECT
    system, qmgr, 2 AS kind, interval_start AS start, interval_seconds AS seconds,
    max(utc_offset) AS utc_offset, max(mq_version) AS mq_version
FROM inputs.qcct
WHERE interval_seconds IS NOT NULL
GROUP BY ALL
UNION ALL
SELECT
    system, qmgr, 3 AS kind, middle_minute(interval_start, interval_seconds) AS start,
    0 AS seconds, max(utc_offset) AS utc_offset, max(mq_version) AS mq_version
FROM (
    SELECT system, qmgr, interval_start, interval_seconds, utc_offset, mq_version FROM inputs.wtid
    UNION ALL
    SELECT system, qmgr, interval_start, interval_seconds, utc_offset, mq_version FROM inputs.qcst
)
GROUP BY ALL
