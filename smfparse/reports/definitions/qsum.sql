-- QSUM: one row per section, queue and CF structure: the calls of tasks on the queue (WQST).
SELECT
    section, interval_date, interval_time, queue_manager, objname, cfstrucname AS structure,
    count(*) AS blocks,
    CASE WHEN cfstrucname = '' THEN arg_max(nps, sequence) END AS page_set,
    CASE WHEN cfstrucname = '' THEN arg_max(nbuffpool, sequence) END AS buffer_pool,
    sum(putbytes) / 1048576 AS put_mb,
    sum(getbytes) / 1048576 AS get_mb,
    '!' AS separator,
    sum(validput)::BIGINT AS validput,
    sum(validget)::BIGINT AS validget,
    sum(getpsn)::BIGINT AS getpsn,
    max(maxqdpth) AS maxqdpth,
    sum(putn::BIGINT + put1n)::BIGINT AS puts,
    sum(getn)::BIGINT AS getn
FROM sectioned.wqst AS q
JOIN (
    SELECT
        section, qmgr AS queue_manager,
        coalesce(bucket, smf_time)::DATE AS interval_date,
        date_trunc('second', coalesce(bucket, smf_time))::TIME AS interval_time
    FROM sectioned.keys
) USING (section)
GROUP BY section, interval_date, interval_time, queue_manager, objname, cfstrucname
