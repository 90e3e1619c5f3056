-- DCHSSUM: one row per section and type of channel (QCST), and one for all types.
-- MP1B's rates are over the whole seconds of the section.
WITH
types AS (
    SELECT
        section,
        coalesce(upper(qcstchty_text), 'total') AS type,
        count(DISTINCT (qcstchnm, qcstcnnm, qcststrt)) AS channels,
        sum(qcstnpmg)::BIGINT AS persistent,
        (sum(qcstnmsg) - sum(qcstnpmg))::BIGINT AS nonpersistent,
        sum(qcstbatc)::BIGINT AS batches,
        TRY_CAST(sum(qcstnbyt) AS UBIGINT) AS bytes,
        TRY_CAST(sum(qcstbyst) AS UBIGINT) AS bytes_sent,
        TRY_CAST(sum(qcstbyrc) AS UBIGINT) AS bytes_received
    FROM sectioned.qcst
    GROUP BY GROUPING SETS ((section, upper(qcstchty_text)), (section))
)
SELECT
    types.*,
    persistent / nullif(trunc(keys.interval_seconds), 0) AS persistent_per_second,
    nonpersistent / nullif(trunc(keys.interval_seconds), 0) AS nonpersistent_per_second,
    persistent / nullif(keys.interval_seconds, 0) AS persistent_rate,
    nonpersistent / nullif(keys.interval_seconds, 0) AS nonpersistent_rate,
    (persistent > 0 AND persistent_per_second < 1)
        OR (nonpersistent > 0 AND nonpersistent_per_second < 1) AS low_rate
FROM types
JOIN sectioned.keys AS keys USING (section)
