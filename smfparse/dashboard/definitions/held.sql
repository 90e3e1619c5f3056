-- What SMF wrote: records and bytes by type.
SELECT
    coalesce(system, '') AS system, coalesce(qmgr, '') AS qmgr, type, subtype, count(*) AS records,
    sum(length)::BIGINT AS bytes, min(counted_at) AS earliest, max(counted_at) AS latest
FROM inputs.record
GROUP BY ALL
ORDER BY ALL
