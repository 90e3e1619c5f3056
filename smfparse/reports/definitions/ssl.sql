-- SSL: one row per section and SSL task of the channel initiator (QCT_SSL), and one for all of them.
WITH
blocks AS (
    SELECT
        section, block_no, total(interval_seconds) AS interval_seconds,
        sum(qctreqn)::UBIGINT AS qctreqn, total(qcteltm) AS qcteltm, total(qctcptm) AS qctcptm,
        total(qctwttm) AS qctwttm, NULL AS channels,
        sum(qcteltm_n)::BIGINT AS qcteltm_n, sum(qctcptm_n)::BIGINT AS qctcptm_n,
        max(qctlsdu) AS longest, of_largest(qctlstm, qctlsdu, sequence) AS longest_at
    FROM sectioned.qct_ssl
    GROUP BY section, block_no
)
SELECT * EXCLUDE (channels)
FROM channel_tasks('SSL', 'blocks')
