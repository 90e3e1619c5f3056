-- QSTAT: one row per section and queue (QQST). What a partial record leaves at zero (depth, age) comes
-- from full ones; the smallest and the average message of several intervals from those with puts.
SELECT
    section,
    CASE
        WHEN qqstputs IS NOT NULL THEN 'queue'
        WHEN qqstopct IS NOT NULL THEN 'queue_931'
        WHEN qqstdisp THEN 'shared_930'
        ELSE 'private_930'
    END AS line,
    COLUMNS(lambda name: name LIKE 'qqst%' AND name NOT IN (
        'qqstflag', 'qqstpart', 'qqstdpth', 'qqstmage', 'qqstmsmi', 'qqstmsav', 'qqstqsgn', 'qqstcfst'
    )),
    CASE WHEN qqstdisp THEN 'Shared' WHEN NOT qqstdisp THEN 'Private' END AS disposition,
    CASE WHEN NOT qqstdisp THEN coalesce(qqstpsid::VARCHAR, 'Unallocated') END AS page_set,
    CASE WHEN NOT qqstdisp THEN coalesce(qqstbpid::VARCHAR, 'Unallocated') END AS buffer_pool,
    CASE WHEN qqstdisp THEN qqstqsgn END AS queue_sharing_group,
    CASE WHEN qqstdisp THEN qqstcfst END AS structure,
    CASE WHEN partial THEN 'Partial' WHEN NOT partial THEN 'Full' END AS record_type,
    CASE WHEN partial THEN 'PARTIAL' WHEN NOT partial THEN 'COMPLETE' END AS completeness,
    depth, oldest_message_age AS age, coalesce(smallest_put, qqstmsmi) AS smallest,
    CASE WHEN records = 1 THEN qqstmsav ELSE average_put END AS average, puts AS total_puts, gets_and_browses AS total_gets
FROM grouped.qqst
