-- DNS: one row per section and DNS task of the channel initiator (QCT_DNS), and one for all of them.
WITH
blocks AS (
    SELECT
        section, block_no, total(interval_seconds) AS interval_seconds,
        sum(qctreqn)::UBIGINT AS qctreqn, total(qcteltm) AS qcteltm, total(qctcptm) AS qctcptm,
        total(qctwttm) AS qctwttm, NULL AS channels,
        sum(qcteltm_n)::BIGINT AS qcteltm_n, sum(qctcptm_n)::BIGINT AS qctcptm_n,
        max(qctlgdu) AS longest, of_largest(qctlgtm, qctlgdu, sequence) AS longest_at
    FROM sectioned.qct_dns
    GROUP BY section, block_no
)
SELECT * EXCLUDE (channels)
FROM channel_tasks('DNS', 'blocks')
