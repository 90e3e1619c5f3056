-- SSL: one row per section and SSL task of the channel initiator (QCT_SSL), and one for all of them.
WITH
blocks AS (
    SELECT
        section, block_no, sum(interval_seconds) AS interval_seconds,
        sum(qctreqn)::UBIGINT AS qctreqn, sum(qcteltm) AS qcteltm, sum(qctcptm) AS qctcptm,
        sum(qctwttm) AS qctwttm, NULL AS channels,
        max(qctlsdu) AS longest, arg_max_null(qctlstm, qctlsdu) AS longest_at
    FROM sectioned.qct_ssl
    GROUP BY section, block_no
)
SELECT * EXCLUDE (channels)
FROM channel_tasks('SSL', 'blocks')
