-- Messages put to the queues of each structure, by all members of a queue-sharing group. A queue manager of an unknown
-- group is a group of its own.
WITH
groups AS (
    SELECT system, qmgr, max(queue_sharing_group) AS known_qsg FROM chinit_figures GROUP BY ALL
),
members AS (
    SELECT
        system, qmgr, structure, coalesce(max(qsg), any_value(known_qsg), system || '/' || qmgr) AS place,
        sum(messages_put) AS messages, sum(bytes_put)::DOUBLE AS bytes, any_value(seconds) AS seconds
    FROM queue_use_figures
    LEFT JOIN covered_of_qmgrs('wqst', 'qmst') USING (system, qmgr)
    LEFT JOIN groups USING (system, qmgr)
    WHERE structure IS NOT NULL
    GROUP BY system, qmgr, structure
    HAVING sum(messages_put) > 0
)
SELECT
    string_agg(DISTINCT system, ', ' ORDER BY system) AS system,
    string_agg(DISTINCT qmgr, ', ' ORDER BY qmgr) AS qmgr,
    'structure ' || structure AS about,
    sum(bytes) / sum(messages) AS message_bytes,
    total(messages / nullif(seconds, 0)) AS arrivals
FROM members
GROUP BY place, structure
ORDER BY place, structure
