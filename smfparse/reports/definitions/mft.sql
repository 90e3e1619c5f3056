-- MFT: the use of queues by agents of Managed File Transfer (WQST). `line` is the kind of line of a row:
--   agent  an agent: transferred files in both directions, and its inferred properties
--   queue  an agent and the role of a queue: messages, bytes, waiting getters, API CPU time
-- The queues of an agent are SYSTEM.FTE.<role>.<agent>. The job or channel that gets from these queues is the agent.
-- Agents with the same job or channel cannot be distinguished, so their puts have no figures.
WITH
all_uses AS (
    SELECT
        *, name.role AS role, name.agent AS agent
    FROM (
        SELECT
            *, regexp_extract(queue, '^SYSTEM[.]FTE[.]([A-Z]+)[.](.+)$', ['role', 'agent']) AS name
        FROM timed_uses('sectioned.wqst', 'sectioned.wtid', 'sectioned.qcct', 'sectioned.statistics')
    )
),
uses AS (
    SELECT * FROM all_uses WHERE agent <> ''
),
depths AS (
    SELECT key.*, deepest AS highest FROM queue_by('sectioned.qqst', {'section': section, 'queue': object})
),
queues AS (
    SELECT
        section, agent, role, queue, any_value(structure) AS structure,
        sum(puts)::BIGINT AS puts, sum(gets)::BIGINT AS gets,
        total(put_bytes) AS put_bytes, total(get_bytes) AS get_bytes,
        sum(persistent_puts)::BIGINT AS persistent_puts,
        sum(to_getter) AS to_getter, max(deepest) AS deepest, total(cpu) AS cpu,
        flatten(list(spans)) AS spans
    FROM uses
    GROUP BY ALL
),
takers AS (
    SELECT DISTINCT section, agent, who
    FROM uses
    WHERE gets > 0 AND role IN ('COMMAND', 'DATA', 'REPLY', 'STATE')
),
alone AS (
    SELECT section, who, any_value(agent) AS agent, count(*) AS agents
    FROM takers
    GROUP BY ALL
),
made AS (
    SELECT
        a.section, a.agent,
        string_agg(DISTINCT a.who, ', ' ORDER BY a.who) AS who,
        sum(puts) FILTER (role = 'DATA')::BIGINT AS data_put,
        sum(put_bytes) FILTER (role = 'DATA') AS bytes_put,
        sum(puts) FILTER (role = 'REPLY')::BIGINT AS replies_put,
        sum(puts) FILTER (role = 'STATE')::BIGINT AS states_put,
        sum(to_getter) FILTER (role = 'DATA')::BIGINT AS data_to_getter,
        max(tasks) AS tasks, total(cpu) AS cpu
    FROM alone AS a
    JOIN uses AS u USING (section, who)
    WHERE a.agents = 1
    GROUP BY ALL
),
-- Messages that agents get from other queues become files; messages that they put to other queues come from files.
elsewhere AS (
    SELECT
        a.section, a.agent,
        sum(gets)::BIGINT AS messages_to_files, sum(puts)::BIGINT AS messages_of_files
    FROM alone AS a
    JOIN all_uses AS u USING (section, who)
    WHERE a.agents = 1 AND u.queue NOT LIKE 'SYSTEM.%'
    GROUP BY ALL
),
taken AS (
    SELECT
        section, agent,
        sum(gets) FILTER (role = 'DATA')::BIGINT AS data_got,
        sum(get_bytes) FILTER (role = 'DATA') AS bytes_got,
        sum(gets) FILTER (role = 'REPLY')::BIGINT AS replies_got,
        sum(gets) FILTER (role = 'COMMAND')::BIGINT AS commands
    FROM queues
    GROUP BY ALL
)
SELECT
    'agent' AS line, section, agent, coalesce(who, 'shared') AS who, commands,
    bytes_put / 1048576 AS mb_sent, bytes_got / 1048576 AS mb_received,
    coalesce(bytes_put, 0) + coalesce(bytes_got, 0) AS bytes,
    bytes_put / nullif(data_put, 0) / 1024 AS chunk_kb,
    data_got / nullif(replies_put, 0) AS window_size,
    coalesce(nullif(replies_got, 0), replies_put) / nullif(states_put, 0) AS replies_a_state,
    bytes / 1048576 / nullif(states_put, 0) AS mb_a_checkpoint,
    100 * data_to_getter / nullif(data_put, 0) AS to_getter_share,
    cpu / 1e6 / (nullif(bytes, 0) / 1073741824) AS cpu_a_gb,
    tasks, messages_to_files, messages_of_files
FROM taken
LEFT JOIN made USING (section, agent)
LEFT JOIN elsewhere USING (section, agent)
UNION ALL BY NAME
SELECT
    'queue' AS line, section, agent, role, structure, puts, gets,
    get_bytes / 1048576 AS mb_got, get_bytes / 1048576 / divisor(seconds, spans) AS mb_a_second,
    put_bytes / nullif(puts, 0) / 1024 AS kb_a_message,
    100 * to_getter / nullif(puts, 0) AS to_getter_share,
    persistent_puts, greatest(deepest, highest) AS deepest, cpu / 1e6 AS cpu_seconds
FROM queues
LEFT JOIN depths USING (section, queue)
LEFT JOIN sectioned.covered USING (section)
