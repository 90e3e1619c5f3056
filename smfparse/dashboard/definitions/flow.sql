-- Putters and getters of each queue, as edges with the columns of the report flow.
, uses AS (
    SELECT
        system, qmgr, queue, CASE WHEN channel IS NULL THEN 'job' ELSE 'channel' END AS kind,
        coalesce(channel, job) AS who, sum(puts) AS puts, sum(gets) AS gets
    FROM queue_calls
    GROUP BY ALL
)
SELECT
    system, qmgr, 'edge' AS line, kind AS from_kind, who AS from_name, '' AS from_place,
    'queue' AS to_kind, queue AS to_name, '' AS to_place, puts::BIGINT AS messages
FROM uses
WHERE puts > 0
UNION ALL
SELECT
    system, qmgr, 'edge' AS line, 'queue' AS from_kind, queue AS from_name, '' AS from_place,
    kind AS to_kind, who AS to_name, '' AS to_place, gets::BIGINT AS messages
FROM uses
WHERE gets > 0
ORDER BY ALL
