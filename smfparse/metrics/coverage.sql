-- What MQ recorded of each queue manager: how many records of each trace class, how long intervals of class 3 are, and how
-- many of the queues and channels that were used have no statistics of their own. Dynamic queues are left out.
WITH
used_queues AS (
    SELECT DISTINCT system, qmgr, basename AS queue
    FROM inputs.wqst
    WHERE (validput > 0 OR validget > 0) AND basename <> ''
        AND NOT regexp_matches(basename, '[0-9A-F]{16}$')
),
used_channels AS (
    SELECT DISTINCT system, qmgr, wtidchl AS channel FROM inputs.wtid WHERE wtidchl <> ''
),
known_queues AS (SELECT DISTINCT system, qmgr, qqstqnam AS queue FROM inputs.qqst),
known_channels AS (SELECT DISTINCT system, qmgr, qcstchnm AS channel FROM inputs.qcst),
figures AS (
    SELECT system, qmgr, 'statistics' AS name, count(*)::DOUBLE AS number
    FROM (SELECT system, qmgr FROM inputs.qmst UNION ALL SELECT system, qmgr FROM inputs.qjst)
    GROUP BY ALL
    UNION ALL
    SELECT system, qmgr, 'channel_initiator', count(*) FROM inputs.qcct GROUP BY ALL
    UNION ALL
    SELECT system, qmgr, 'queue_statistics', count(*) FROM inputs.qqst GROUP BY ALL
    UNION ALL
    SELECT system, qmgr, 'tasks', count(*) FROM inputs.wtas GROUP BY ALL
    UNION ALL
    SELECT system, qmgr, 'channels', count(*) FROM inputs.qcst GROUP BY ALL
    UNION ALL
    SELECT system, qmgr, 'task_seconds', median(interval_seconds)
    FROM inputs.wtas
    WHERE interval_seconds BETWEEN 60 AND 1e5
    GROUP BY ALL
    UNION ALL
    SELECT system, qmgr, 'used_queues', count(*) FROM used_queues GROUP BY ALL
    UNION ALL
    SELECT system, qmgr, 'unknown_queues', count(*)
    FROM used_queues
    ANTI JOIN known_queues USING (system, qmgr, queue)
    GROUP BY ALL
    UNION ALL
    SELECT system, qmgr, 'used_channels', count(*) FROM used_channels GROUP BY ALL
    UNION ALL
    SELECT system, qmgr, 'unknown_channels', count(*)
    FROM used_channels
    ANTI JOIN known_channels USING (system, qmgr, channel)
    GROUP BY ALL
)
SELECT system, qmgr, map_from_entries(list((name, number) ORDER BY name)) AS figures
FROM figures
GROUP BY ALL
