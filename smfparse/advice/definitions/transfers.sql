-- Transfers of a Managed File Transfer agent in an interval, from its queues SYSTEM.FTE.<kind>.<agent>.
WITH
used AS (
    SELECT
        input_no, source, record_no,
        split_part(base_name, '.', 3) AS kind, substr(base_name, length('SYSTEM.FTE..' || kind) + 1) AS agent,
        messages_put::DOUBLE AS puts, bytes_put::DOUBLE AS bytes, persistent_put::DOUBLE AS persistent,
        greatest_depth::DOUBLE AS depth,
        open_cpu + close_cpu + get_cpu + put_cpu + put1_cpu AS calls_cpu
    FROM queue_use_figures
    WHERE base_name LIKE 'SYSTEM.FTE.%'
)
SELECT
    system, qmgr, agent AS object, '' AS job, start, seconds,
    any_value(utc_offset) AS utc_offset, any_value(mq_version) AS mq_version,
    total(CASE WHEN kind = 'DATA' THEN puts ELSE 0 END) AS data_puts,
    total(CASE WHEN kind = 'DATA' THEN bytes ELSE 0 END) AS data_bytes,
    total(CASE WHEN kind = 'DATA' THEN persistent ELSE 0 END) AS persistent,
    max(CASE WHEN kind = 'DATA' THEN depth ELSE 0 END) AS depth,
    total(CASE WHEN kind = 'STATE' THEN calls_cpu ELSE 0 END) AS state_cpu, total(calls_cpu) AS calls_cpu
FROM used
JOIN task_intervals('inputs.wtid', 'inputs.qmst') USING (input_no, source, record_no)
GROUP BY system, qmgr, agent, start, seconds
