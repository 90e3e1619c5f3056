-- Times that are NULL because MQ wrote an impossible value: a negative duration of counted calls, written without a
-- sign, or QWHSSTCK before 1990 or after 2041 (`Duration` and `Instant` of layout). One row per queue manager, over the
-- whole input. Only times that other rules also read are counted, so no further column is decoded.
WITH
records AS (
    SELECT
        system, qmgr, mq_version, utc_offset, coalesce(time, smf_time - to_seconds(coalesce(utc_offset, 0))) AS moment,
        time IS NULL AND (type, subtype) IN (  -- the records with a QWHS
            (115, 1), (115, 2), (115, 201), (115, 215), (115, 216), (115, 231), (116, 0), (116, 1), (116, 2), (116, 10)
        ) AS is_impossible
    FROM inputs.record
    WHERE qmgr <> ''
),
written AS (
    SELECT
        system, qmgr, min(moment) AS began, any_value(utc_offset) AS utc_offset, max(mq_version) AS mq_version
    FROM records
    GROUP BY system, qmgr
),
-- `fields`: the names of the fields of a row that have no value. An item is NULL if its field has a value.
rows AS (
    SELECT
        system, qmgr, interval_start, interval_seconds, [
            untimed('OPENET', opens, open_elapsed), untimed('OPENCT', opens, open_cpu),
            untimed('CLOSEET', closes, close_elapsed), untimed('CLOSECT', closes, close_cpu),
            untimed('GETET', gets, get_elapsed), untimed('GETCT', gets, get_cpu), untimed('PUTET', puts, put_elapsed),
            untimed('PUTCT', puts, put_cpu), untimed('PUT1ET', put1s, put1_elapsed),
            untimed('PUT1CT', put1s, put1_cpu), untimed('INQET', inqs, inq_elapsed), untimed('INQCT', inqs, inq_cpu),
            untimed('SETET', sets, set_elapsed), untimed('SETCT', sets, set_cpu),
            untimed('CBET', callbacks, callback_elapsed), untimed('CBCT', callbacks, callback_cpu),
            untimed('TOTLATNT', messages_got, time_on_queue_average_amount)
        ] AS fields
    FROM queue_use_figures
    UNION ALL
    SELECT
        system, qmgr, interval_start, interval_seconds, [
            untimed('WTASCMET', commits, commit_elapsed), untimed('WTASCMCT', commits, commit_cpu),
            untimed('WTASBAET', backouts, backout_elapsed), untimed('WTASBACT', backouts, backout_cpu),
            untimed('WTASOTET', other_calls, other_elapsed), untimed('WTASOTCT', other_calls, other_cpu),
            untimed('WTASPRET', prepares, prepare_elapsed), untimed('WTASPRCT', prepares, prepare_cpu),
            untimed('WTASJWET', log_writes, log_write_wait), untimed('WTASJCET', log_forces, log_force_wait),
            untimed('WTASSUSE', suspends, suspended), untimed('WTASDBET', db2_requests, db2_elapsed),
            untimed('WTASSSTC', cf_single_calls, cf_single_elapsed),
            untimed('WTASMSTC', cf_multiple_calls, cf_multiple_elapsed),
            untimed('WTASPSE0', page_set_0_logs, page_set_0_log_wait)
        ]
    FROM task_figures
    UNION ALL
    SELECT system, qmgr, interval_start, interval_seconds, [untimed('WTASLWET', waits, waited)] FROM latch_figures
    UNION ALL
    SELECT
        system, qmgr, interval_start, interval_seconds, [
            untimed('QJSTIOTOTIO', io_1_1_count, io_1_1_average_amount),
            untimed('QJSTIOTOTIO', io_1_2_count, io_1_2_average_amount),
            untimed('QJSTIOTOTIO', io_2_1_count, io_2_1_average_amount),
            untimed('QJSTIOTOTIO', io_2_2_count, io_2_2_average_amount)
        ]
    FROM log_figures
    UNION ALL
    SELECT
        system, qmgr, interval_start, interval_seconds, [
            untimed('QIS1GETT', reads, read_elapsed), untimed('QIS1DWPT', deferred_writes, deferred_write_elapsed),
            untimed('QIS1IMWT', immediate_writes, immediate_write_elapsed)
        ]
    FROM page_set_figures
    UNION ALL
    SELECT
        system, qmgr, interval_start, interval_seconds, [
            untimed('QCTELTM', requests, elapsed), untimed('QCTCPTM', requests, cpu)
        ]
    FROM (FROM adapter_figures UNION ALL BY NAME FROM dispatcher_figures UNION ALL BY NAME FROM tls_task_figures)
    UNION ALL
    SELECT system, qmgr, moment, NULL, ['QWHSSTCK'] FROM records WHERE is_impossible
),
wrapped AS (
    SELECT
        system, qmgr, field, count(*) AS records, min(interval_start) AS first,
        max(epoch_us(interval_start) + (1e6 * coalesce(interval_seconds, 0))::BIGINT) AS ended_us
    FROM (SELECT * EXCLUDE (fields), unnest(fields) AS field FROM rows WHERE list_count(fields) > 0)
    WHERE field IS NOT NULL
    GROUP BY ALL
),
counted AS (
    SELECT
        system, qmgr, max(records) AS records, min(first) AS first, max(ended_us) AS ended_us,
        string_agg(field || ' ' || records, ', ' ORDER BY field) AS fields
    FROM wrapped
    GROUP BY ALL
)
SELECT
    system, qmgr, '' AS object, '' AS job, coalesce(first, began) AS start,
    coalesce((ended_us - epoch_us(first)) / 1e6, 0) AS seconds, utc_offset, mq_version,
    coalesce(records, 0) AS records, fields
FROM written
LEFT JOIN counted USING (system, qmgr)
