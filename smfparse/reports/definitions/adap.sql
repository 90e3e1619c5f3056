-- ADAP: one row per section and adapter task of the channel initiator (QCT_ADP), and one for all of them.
WITH
blocks AS (
    SELECT *, NULL AS channels, NULL AS longest, NULL AS longest_at
    FROM grouped.qct_adp
)
SELECT * EXCLUDE (channels, longest, longest_at)
FROM channel_tasks('ADAP', 'blocks')
