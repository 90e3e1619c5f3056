-- QSTAT: one row per section and queue (QQST). What a partial record leaves at zero (depth, age) comes
-- from full ones; the smallest and the average message of several intervals from those with puts.
WITH
queues AS (
    SELECT
        section, qqstqnam AS queue, qqstdisp AS is_shared,
        bool_and(qqstpart) AS partial,
        arg_max(qqstdpth, sequence) FILTER (NOT qqstpart) AS depth,
        arg_max(qqstmage, sequence) FILTER (NOT qqstpart) AS age,
        coalesce(min(qqstmsmi) FILTER (messages > 0), min(qqstmsmi)) AS smallest,
        CASE
            WHEN count(*) = 1 THEN any_value(qqstmsav)
            ELSE ordered_sum(qqstmsav * messages) / nullif(ordered_sum(messages), 0)
        END AS average
    FROM (SELECT *, qqstputs::DOUBLE + qqstput1 AS messages FROM sectioned.qqst)
    GROUP BY section, queue, is_shared
)
SELECT
    q.section,
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
    queues.depth AS depth, age, smallest, average,
    try_cast(qqstputs::HUGEINT + qqstput1 AS UBIGINT) AS total_puts,
    try_cast(qqstgets::HUGEINT + qqstbrws AS UBIGINT) AS total_gets
FROM grouped.qqst AS q
JOIN queues
    ON queues.section = q.section
    AND queue IS NOT DISTINCT FROM qqstqnam
    AND is_shared IS NOT DISTINCT FROM qqstdisp
