-- The records in the input: number and bytes by system, queue manager, type and subtype.
SELECT
    coalesce(system, '') AS system, coalesce(qmgr, '') AS qmgr, type, subtype, count(*) AS records,
    sum(length)::BIGINT AS bytes, min(counted_at) AS earliest, max(counted_at) AS latest
FROM inputs.record
GROUP BY ALL
ORDER BY ALL
