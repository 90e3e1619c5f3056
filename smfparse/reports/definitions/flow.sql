-- FLOW: the flow of messages as a graph: putters and getters of queues (WQST), and channels between queue managers
-- (QCST). `line` is the kind of line of a row:
--   edge   messages from one node to another node
--   queue  puts to a queue and gets from it
--   user   calls of a job or channel on a queue: of all users if queues are selected, otherwise only of users without
--          an edge, which only open, browse, inquire or set, or whose calls fail
-- A node has a kind, a name, and a place, the scope in which the name is unique: the z/OS system of a job, the queue
-- manager of a channel or queue, the queue-sharing group of a shared queue.
WITH
uses AS (
    SELECT
        *,
        CASE WHEN channel IS NULL THEN 'job' ELSE 'channel' END AS kind,
        CASE WHEN channel IS NULL THEN system ELSE system || '/' || qmgr END AS user_place
    FROM timed_uses('sectioned.wqst', 'sectioned.wtid', 'sectioned.qcct', 'sectioned.statistics')
),
-- The end of a channel at a queue manager.
ends AS (
    SELECT
        section, system || '/' || qmgr AS place, qmgr, channel, partner, direction = 'sends' AS sends, NOT sends AS takes,
        sum(messages)::BIGINT AS messages, sum(data_bytes)::DOUBLE / nullif(sum(messages), 0) AS size,
        list({'began': epoch_us(interval_start), 'ended': epoch_us(interval_end)})
            FILTER (interval_start <= interval_end) AS spans
    FROM channel_rows('sectioned.qcst')
    WHERE partner <> '' AND direction IS NOT NULL AND NOT getvariable('of_queues')
    GROUP BY ALL
),
links AS (
    SELECT s.section, s.channel, s.place, t.place AS partner_place, s.messages, s.size, s.spans
    FROM ends AS s
    JOIN ends AS t
        ON t.section = s.section AND t.channel = s.channel AND t.qmgr = s.partner AND t.takes
    WHERE s.sends AND t.partner = s.qmgr
),
edges AS (
    SELECT
        section, kind AS from_kind, who AS from_name, user_place AS from_place,
        'queue' AS to_kind, queue AS to_name, place AS to_place,
        sum(puts)::BIGINT AS messages, sum(put_bytes) / sum(puts) AS size,
        100 * sum(persistent_puts) / sum(puts) AS persistent,
        string_agg(DISTINCT opened_as, ', ' ORDER BY opened_as) AS opened_as,
        flatten(list(spans)) AS spans
    FROM uses
    WHERE puts > 0
    GROUP BY ALL
    UNION ALL BY NAME
    SELECT
        section, 'queue' AS from_kind, queue AS from_name, place AS from_place,
        kind AS to_kind, who AS to_name, user_place AS to_place,
        sum(gets)::BIGINT AS messages, sum(get_bytes) / nullif(sum(got), 0) AS size,
        string_agg(DISTINCT opened_as, ', ' ORDER BY opened_as) AS opened_as,
        flatten(list(spans)) AS spans
    FROM uses
    WHERE gets > 0
    GROUP BY ALL
    UNION ALL BY NAME
    SELECT
        section, 'channel' AS from_kind, channel AS from_name, place AS from_place,
        'channel' AS to_kind, channel AS to_name, partner_place AS to_place,
        messages, size, spans
    FROM links
    UNION ALL BY NAME
    -- If the input does not contain the other end of a channel, only the name of the queue manager there is known.
    SELECT
        section, 'channel' AS from_kind, channel AS from_name, place AS from_place,
        'queue manager' AS to_kind, partner AS to_name, '' AS to_place,
        messages, size, spans
    FROM ends
    WHERE sends AND (section, channel, place) NOT IN (SELECT (section, channel, place) FROM links)
    UNION ALL BY NAME
    SELECT
        section, 'queue manager' AS from_kind, partner AS from_name, '' AS from_place,
        'channel' AS to_kind, channel AS to_name, place AS to_place,
        messages, size, spans
    FROM ends
    WHERE takes
        AND (section, channel, place) NOT IN (SELECT (section, channel, partner_place) FROM links)
),
queues AS (
    SELECT
        section, queue, place, bool_or(is_shared) AS is_shared, bool_or(is_in_group) AS is_in_group,
        sum(puts)::BIGINT AS puts, sum(gets)::BIGINT AS gets,
        count(DISTINCT (system, qmgr, who)) FILTER (puts > 0) AS putters,
        count(DISTINCT (system, qmgr, who)) FILTER (gets > 0) AS getters
    FROM uses
    GROUP BY ALL
    HAVING sum(puts) > 0 OR sum(gets) > 0
)
SELECT
    'edge' AS line, e.* EXCLUDE (spans), messages / divisor(seconds, spans) AS rate
FROM edges AS e
LEFT JOIN sectioned.covered USING (section)
WHERE messages > 0
UNION ALL BY NAME
SELECT
    'queue' AS line, section, queue, place, puts, gets, puts - gets AS difference,
    putters, getters,
    CASE
        WHEN is_shared AND NOT is_in_group
            THEN 'shared, its group is not known: give --qsg where there are several members'
        WHEN gets = 0 AND getvariable('of_tasks') THEN 'the selection can leave out their getters'
        WHEN puts = 0 AND getvariable('of_tasks') THEN 'the selection can leave out their putters'
        WHEN gets = 0 AND is_in_group
            THEN 'taken by another member of the group, by the IMS bridge, or ACCTQ is off'
        WHEN gets = 0
            THEN 'nobody takes them here: they stay, expire, go to IMS by the bridge, or ACCTQ is off'
        WHEN puts = 0 AND is_in_group THEN 'put by another member of the group, or ACCTQ is off'
        WHEN puts = 0 THEN 'nobody puts them here: from before, or ACCTQ is off'
    END AS note
FROM queues
UNION ALL BY NAME
SELECT
    'user' AS line, section, kind AS from_kind, who AS from_name, user_place AS from_place, queue, place,
    string_agg(DISTINCT opened_as, ', ' ORDER BY opened_as) AS opened_as,
    sum(COLUMNS('^(opens|puts|gets|browses|inqs|sets|failed_puts|failed_gets)$'))::BIGINT AS '\1'
FROM uses
GROUP BY ALL
HAVING getvariable('of_queues') OR (sum(puts) = 0 AND sum(gets) = 0)
