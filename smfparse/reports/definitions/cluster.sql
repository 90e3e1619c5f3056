-- CLUSTER: the SYSTEM.CLUSTER queues of a queue manager, users of cluster queues of other queue managers, and cluster
-- channels. `line` is the kind of line of a row:
--   queue    a SYSTEM.CLUSTER queue (QQST; without queue statistics, class 3)
--   user     a user who puts through a cluster transmission queue, and the opened name (WQST)
--   channel  a cluster channel, with its share of the messages (QCST)
WITH
statistics AS (
    SELECT
        key.*, depth, deepest AS highest, oldest_message AS oldest, try_cast(puts AS BIGINT) AS puts,
        try_cast(gets AS BIGINT) AS gets, puts_per_second AS put_rate, gets_per_second AS get_rate
    FROM queue_by('sectioned.qqst', {'section': section, 'queue': object})
    WHERE key.queue LIKE 'SYSTEM.CLUSTER.%'
),
uses AS (
    SELECT
        q.section, connection_type, job, nullif(channel, '') AS channel, objname AS opened, basename AS queue,
        openn, openct, openet, validput, putn::BIGINT + put1n AS puts_made, putct + put1ct AS put_us,
        coalesce(getdval, validget) AS got, putpmsg::BIGINT + put1pmsg AS persistent, maxqdpth
    FROM of_tasks('sectioned.wqst') AS q
    LEFT JOIN owners('sectioned.wtid') USING (of_source, task_record)
    WHERE basename LIKE 'SYSTEM.CLUSTER.%'
),
accounted AS (
    SELECT
        section, queue, sum(validput)::BIGINT AS task_puts, sum(got)::BIGINT AS task_gets,
        max(maxqdpth) AS deepest
    FROM uses
    GROUP BY ALL
),
queues AS (
    SELECT
        section, queue, depth, coalesce(highest, deepest) AS highest, oldest,
        coalesce(puts, task_puts) AS puts, coalesce(gets, task_gets) AS gets,
        put_rate, get_rate,
        CASE WHEN get_rate > put_rate AND depth > 0 THEN depth / (get_rate - put_rate) / 60 END AS minutes_to_empty,
        CASE WHEN queue = 'SYSTEM.CLUSTER.COMMAND.QUEUE' AND depth IS NOT NULL THEN
            CASE WHEN depth = 0 THEN 'ready for business'
            ELSE 'repository work is waiting: not all of the cluster is known here yet' END
        END AS note
    FROM statistics
    FULL JOIN accounted USING (section, queue)
),
openers AS (
    SELECT
        section, connection_type, job, channel, opened, queue,
        sum(openn)::BIGINT AS opens, sum(validput)::BIGINT AS put_ok, sum(persistent)::BIGINT AS persistent,
        total(put_us) / nullif(sum(puts_made), 0) AS put_cpu,
        total(openct) / nullif(sum(timed(openn, openct)), 0) AS open_cpu,
        max(openet / nullif(timed(openn, openet), 0)) / 1000 AS open_slowest
    FROM uses
    GROUP BY ALL
    HAVING sum(openn) > 0 OR sum(validput) > 0
),
channels AS (
    SELECT key.*, messages, bytes_per_message AS size
    FROM channel_by('sectioned.qcst', {'section': section, 'channel': channel, 'type': type, 'partner': partner})
    WHERE key.type IN ('Cluster-sender', 'Cluster-receiver') AND NOT getvariable('of_queues')
)
SELECT 'queue' AS line, * FROM queues
UNION ALL BY NAME
SELECT
    'user' AS line, *,
    100 * put_ok / nullif(sum(put_ok) OVER (PARTITION BY section, queue), 0) AS share
FROM openers
UNION ALL BY NAME
SELECT
    'channel' AS line, *,
    100 * messages / nullif(sum(messages) OVER (PARTITION BY section, type), 0) AS share
FROM channels
