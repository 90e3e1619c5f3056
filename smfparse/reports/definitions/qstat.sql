-- QSTAT: one row per section and queue (QQST). What a partial record leaves at zero (depth, age) comes
-- from full ones; the smallest and the average message of several intervals from those with puts.
WITH
records AS (
    SELECT
        section, qqstqnam, qqstdisp, qqstpart, qqstdpth, qqstmage, qqstmsmi, qqstmsav,
        qqstputs::DOUBLE + qqstput1 AS messages,
        sequence
    FROM sectioned.qqst
),
queues AS (
    SELECT
        section, qqstqnam, qqstdisp,
        bool_and(qqstpart) AS partial,
        arg_max(qqstdpth, sequence) FILTER (NOT qqstpart) AS depth,
        arg_max(qqstmage, sequence) FILTER (NOT qqstpart) AS age,
        coalesce(min(qqstmsmi) FILTER (messages > 0), min(qqstmsmi)) AS smallest,
        CASE
            WHEN count(*) = 1 THEN any_value(qqstmsav)
            ELSE ordered_sum(qqstmsav * messages) / nullif(ordered_sum(messages), 0)
        END AS average
    FROM records
    GROUP BY section, qqstqnam, qqstdisp
)
SELECT
    q.section,
    CASE
        WHEN q.qqstputs IS NOT NULL THEN 'queue'
        WHEN q.qqstopct IS NOT NULL THEN 'queue_931'
        WHEN q.qqstdisp THEN 'shared_930'
        ELSE 'private_930'
    END AS line,
    q.qqstqnam, q.qqstdisp, q.qqstuncm, q.qqstpsid, q.qqstbpid, q.qqstopct, q.qqstipct,
    q.qqstqtst, q.qqstqtlt, q.qqstlput, q.qqstlget, q.qqstdphi, q.qqstdplo, q.qqstputs,
    q.qqstnppt, q.qqstppt, q.qqstput1, q.qqstnpp1, q.qqstpp1, q.qqstputb, q.qqstnppb, q.qqstppb,
    q.qqstpt1b, q.qqstnp1b, q.qqstp1b, q.qqstflpt, q.qqstflp1, q.qqstfptc, q.qqstfptb,
    q.qqststrm, q.qqstmsma, q.qqstgets, q.qqstnpdg, q.qqstpdg, q.qqstgetb, q.qqstnpdb,
    q.qqstpdb, q.qqstbrws, q.qqstnpbr, q.qqstpbr, q.qqstbrwb, q.qqstnpbb, q.qqstpbb, q.qqstflgt,
    q.qqstnmag, q.qqsttmfg, q.qqstflbr, q.qqstnmab, q.qqsttmfb, q.qqstflgw, q.qqstrdgw,
    q.qqstflbw, q.qqstrdbw, q.qqstsagt, q.qqstsabr, q.qqstophi, q.qqstoplo, q.qqstiphi,
    q.qqstiplo, q.qqstopen, q.qqstclos, q.qqstinqr, q.qqstset, q.qqstexpr, q.qqstrbpt,
    q.qqstrbgt, q.qqstocpa, q.qqstocga, q.qqstoahc, q.qqstocda, q.qqstocpd, q.qqstocgd,
    q.qqstocmp, q.qqstocps, q.qqstocgs, q.qqstosps, q.qqstoscs, q.qqstosns, q.qqstospl,
    q.qqstoscl, q.qqstosfs,
    CASE q.qqstdisp WHEN true THEN 'Shared' WHEN false THEN 'Private' END AS disposition,
    CASE WHEN NOT q.qqstdisp THEN coalesce(q.qqstpsid::VARCHAR, 'Unallocated') END AS page_set,
    CASE WHEN NOT q.qqstdisp THEN coalesce(q.qqstbpid::VARCHAR, 'Unallocated') END AS buffer_pool,
    CASE WHEN q.qqstdisp THEN q.qqstqsgn END AS queue_sharing_group,
    CASE WHEN q.qqstdisp THEN q.qqstcfst END AS structure,
    CASE w.partial WHEN true THEN 'Partial' WHEN false THEN 'Full' END AS record_type,
    CASE w.partial WHEN true THEN 'PARTIAL' WHEN false THEN 'COMPLETE' END AS completeness,
    w.depth, w.age, w.smallest, w.average,
    try_cast(q.qqstputs::HUGEINT + q.qqstput1 AS UBIGINT) AS total_puts,
    try_cast(q.qqstgets::HUGEINT + q.qqstbrws AS UBIGINT) AS total_gets
FROM grouped.qqst AS q
JOIN queues AS w
    ON w.section = q.section
    AND w.qqstqnam IS NOT DISTINCT FROM q.qqstqnam
    AND w.qqstdisp IS NOT DISTINCT FROM q.qqstdisp
