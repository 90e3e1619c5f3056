-- Transfers of agents, by the agents' queues: messages on DATA and REPLY, and puts to STATE by agents that get replies;
-- and the longest round trip of message channels (QCST).
WITH
used AS (
    SELECT
        system, qmgr, name.role AS role, name.agent AS agent,
        total(messages_put) AS puts, total(destructive_gets) AS gets,
        sum(bytes_put)::DOUBLE AS put_bytes, sum(bytes_got)::DOUBLE AS get_bytes
    FROM (
        SELECT
            *, regexp_extract(queue, '^SYSTEM[.]FTE[.](DATA|REPLY|STATE)[.](.+)$', ['role', 'agent']) AS name
        FROM queue_use_figures
    )
    GROUP BY ALL
),
agents AS (
    SELECT
        system, qmgr, agent,
        greatest(sum(puts) FILTER (role = 'DATA'), sum(gets) FILTER (role = 'DATA')) AS messages,
        greatest(sum(put_bytes) FILTER (role = 'DATA'), sum(get_bytes) FILTER (role = 'DATA')) AS bytes,
        greatest(sum(puts) FILTER (role = 'REPLY'), sum(gets) FILTER (role = 'REPLY')) AS replies,
        sum(puts) FILTER (role = 'STATE') AS states
    FROM used
    WHERE role <> ''
    GROUP BY ALL
),
transfers AS (
    SELECT
        system, qmgr, sum(bytes) / 1073741824 AS gb, sum(bytes) / nullif(sum(messages), 0) AS chunk,
        sum(messages) / nullif(sum(replies), 0) AS window_size,
        sum(replies) FILTER (states > 0) / nullif(sum(states) FILTER (replies > 0), 0) AS frame
    FROM agents
    GROUP BY ALL
),
trips AS (
    SELECT system, qmgr, max(net_average) / 1000 AS round_trip_ms
    FROM channel
    WHERE batches > 0 AND net_average > 0
    GROUP BY ALL
)
SELECT system, qmgr, gb, chunk, window_size AS window, frame, round_trip_ms
FROM transfers
FULL JOIN trips USING (system, qmgr)
WHERE gb > 0 OR round_trip_ms > 0
