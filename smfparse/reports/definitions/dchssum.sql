-- DCHSSUM: one row per section and type of channel (QCST), and one row for all types.
-- As in MP1B, rates are divided by the whole seconds of the section.
WITH
types AS (
    SELECT key.section, upper(key.type) AS type, * EXCLUDE (key)
    FROM channel_by('sectioned.qcst', {'section': section, 'type': type})
    UNION ALL BY NAME
    SELECT key.section, 'total' AS type, * EXCLUDE (key) FROM channel_by('sectioned.qcst', {'section': section})
)
SELECT
    section, types.type, instances AS channels, persistent_messages AS persistent,
    nonpersistent_messages AS nonpersistent, complete_batches AS batches, data_bytes AS bytes,
    bytes_sent, bytes_received,
    persistent / nullif(trunc(keys.interval_seconds), 0) AS persistent_per_second,
    nonpersistent / nullif(trunc(keys.interval_seconds), 0) AS nonpersistent_per_second,
    persistent / nullif(keys.interval_seconds, 0) AS persistent_rate,
    nonpersistent / nullif(keys.interval_seconds, 0) AS nonpersistent_rate,
    (persistent > 0 AND persistent_per_second < 1)
        OR (nonpersistent > 0 AND nonpersistent_per_second < 1) AS low_rate
FROM types
JOIN sectioned.keys AS keys USING (section)
