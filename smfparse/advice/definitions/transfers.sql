-- What agents of Managed File Transfer move in an interval: their queues SYSTEM.FTE.<kind>.<agent> (WQST).
WITH
used AS (
    SELECT
        input_no, source, record_no,
        split_part(basename, '.', 3) AS kind, substr(basename, length('SYSTEM.FTE..' || kind) + 1) AS agent,
        validput::DOUBLE AS puts, putbytes::DOUBLE AS bytes, putpmsg::DOUBLE AS persistent,
        putpwg::DOUBLE AS to_getters, maxqdpth::DOUBLE AS depth,
        openct + closect + getct + putct + put1ct AS cpu
    FROM inputs.wqst
    WHERE basename LIKE 'SYSTEM.FTE.%'
)
SELECT
    system, qmgr, agent AS object, '' AS job, start, seconds,
    any_value(utc_offset) AS utc_offset, any_value(mq_version) AS mq_version,
    total(CASE WHEN kind = 'DATA' THEN puts ELSE 0 END) AS data_puts,
    total(CASE WHEN kind = 'DATA' THEN bytes ELSE 0 END) AS data_bytes,
    total(CASE WHEN kind = 'DATA' THEN persistent ELSE 0 END) AS persistent,
    total(CASE WHEN kind = 'DATA' THEN to_getters ELSE 0 END) AS to_getters,
    max(CASE WHEN kind = 'DATA' THEN depth ELSE 0 END) AS depth,
    total(CASE WHEN kind = 'STATE' THEN cpu ELSE 0 END) AS state_cpu, total(cpu) AS cpu
FROM used
JOIN task_intervals('inputs.wtid', 'inputs.qmst') USING (input_no, source, record_no)
GROUP BY system, qmgr, agent, start, seconds
