-- REQUESTS: requests and replies, from class 3 accounting of queues (WQST): one row per requester, request queue and
-- reply queue. A requester puts to the request queue and gets from the reply queue, a server does the opposite, and
-- their counts agree. The user who gets by message or correlation id is the requester.
WITH
uses AS (
    SELECT
        section, system, qmgr, place, queue, who,
        sum(puts) AS puts, sum(gets) AS gets, sum(gets_by_id) AS by_id,
        total(put_cpu) AS put_cpu, total(get_cpu) AS get_cpu,
        total(time_on_queue) AS time_on_queue, sum(timed_gets) AS timed_gets,
        flatten(list(spans)) AS spans
    FROM timed_uses('sectioned.wqst', 'sectioned.wtid', 'sectioned.qcct', 'sectioned.statistics')
    GROUP BY ALL
),
-- Users who put to one queue and get from another.
ends AS (
    SELECT
        p.section, p.system, p.qmgr, p.who,
        {'place': p.place, 'queue': p.queue} AS put_to, {'place': g.place, 'queue': g.queue} AS got_from,
        p.puts, p.put_cpu, g.gets, g.by_id, g.get_cpu, g.time_on_queue, g.timed_gets, g.spans
    FROM uses AS p
    JOIN uses AS g USING (section, system, qmgr, who)
    WHERE p.puts > 0 AND g.gets > 0 AND put_to <> got_from
),
servers AS (
    SELECT
        section, got_from AS request, put_to AS reply,
        string_agg(DISTINCT who, ', ' ORDER BY who) AS server,
        sum(gets)::BIGINT AS served, sum(puts)::BIGINT AS replies,
        total(get_cpu + put_cpu) AS cpu,
        total(time_on_queue) / nullif(sum(timed_gets), 0) AS time_on_request,
        sum(by_id) / sum(gets) AS by_id_share
    FROM ends
    GROUP BY ALL
),
pairs AS (
    SELECT
        e.section, e.system, e.qmgr, e.who AS requester, s.request, s.reply, s.server,
        e.puts::BIGINT AS requests, s.served, s.replies, e.gets::BIGINT AS received,
        e.by_id / e.gets AS by_id_share, s.by_id_share AS server_share,
        sum(e.puts) OVER two AS all_requests, sum(e.gets) OVER two AS all_received,
        total(e.put_cpu + e.get_cpu) OVER two + s.cpu AS cpu,
        s.time_on_request, e.time_on_queue / nullif(e.timed_gets, 0) AS time_on_reply, e.spans
    FROM ends AS e
    JOIN servers AS s ON s.section = e.section AND s.request = e.put_to AND s.reply = e.got_from
    WHERE NOT list_contains(string_split(s.server, ', '), e.who)
    WINDOW two AS (PARTITION BY e.section, s.request, s.reply)
),
matched AS (
    SELECT
        *,
        CASE
            WHEN by_id_share >= 0.5 AND server_share < 0.5 THEN 'known'
            ELSE 'unknown'
        END AS direction
    FROM pairs
    WHERE replies BETWEEN 0.8 * all_received AND 1.25 * all_received
        AND all_requests BETWEEN 0.8 * all_received AND 1.25 * all_received
        -- Each pair of users is found twice, with either user as requester. The user with the greater share of gets by
        -- id is the requester. If the shares are equal, the order of names selects one of the two rows.
        AND by_id_share >= server_share
        AND (by_id_share > server_share OR request < reply)
)
SELECT
    section, 'pair' AS line, system, qmgr, requester, request.queue AS request_queue, server,
    reply.queue AS reply_queue,
    requests, served, replies, received,
    requests - received AS unanswered,
    100 * (replies - all_received) / nullif(replies, 0) AS left_share,
    100 * by_id_share AS by_id_share, direction,
    received / divisor(seconds, spans) AS rate,
    time_on_request / 1000 AS request_ms, time_on_reply / 1000 AS reply_ms,
    cpu / nullif(all_received, 0) AS round_trip_cpu,
    least(
        least(served, all_requests) / greatest(served, all_requests),
        least(replies, served) / greatest(replies, served),
        least(all_received, replies) / greatest(all_received, replies)
    ) * CASE direction WHEN 'known' THEN by_id_share ELSE 1 END AS score
FROM matched
LEFT JOIN sectioned.covered USING (section)
