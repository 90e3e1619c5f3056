-- Times that have no value though MQ wrote one: durations of counted calls that were negative and written without a sign,
-- and QWHSSTCK before 1990 or from 2042 on, all of which are read as NULL (`Duration` and `Instant` of layout). One row per
-- queue manager, over all of the input. These are the times that rules read anyway, so that no other column is decoded.
WITH
records AS (
    SELECT
        system, qmgr, mq_version, utc_offset, coalesce(time, smf_time - to_seconds(coalesce(utc_offset, 0))) AS moment,
        time IS NULL AND (type, subtype) IN (  -- others have no QWHS
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
-- Rows with the names of their fields that have no value; NULL stands for one that has.
rows AS (
    SELECT
        system, qmgr, interval_start, interval_seconds, [
            untimed('OPENET', openn, openet), untimed('OPENCT', openn, openct), untimed('CLOSEET', closen, closeet),
            untimed('CLOSECT', closen, closect), untimed('GETET', getn, getet), untimed('GETCT', getn, getct),
            untimed('PUTET', putn, putet), untimed('PUTCT', putn, putct), untimed('PUT1ET', put1n, put1et),
            untimed('PUT1CT', put1n, put1ct), untimed('INQET', inqn, inqet), untimed('INQCT', inqn, inqct),
            untimed('SETET', setn, setet), untimed('SETCT', setn, setct), untimed('CBET', cbn, cbet),
            untimed('CBCT', cbn, cbct), untimed('TOTLATNT', validget, totlatnt)
        ] AS fields
    FROM inputs.wqst
    UNION ALL
    SELECT
        system, qmgr, interval_start, interval_seconds, [
            untimed('WTASCMET', wtascmn, wtascmet), untimed('WTASCMCT', wtascmn, wtascmct),
            untimed('WTASBAET', wtasban, wtasbaet), untimed('WTASBACT', wtasban, wtasbact),
            untimed('WTASOTET', wtasotn, wtasotet), untimed('WTASOTCT', wtasotn, wtasotct),
            untimed('WTASPRET', wtasprn, wtaspret), untimed('WTASPRCT', wtasprn, wtasprct),
            untimed('WTASJWET', wtasjwn, wtasjwet), untimed('WTASJCET', wtasjcn, wtasjcet),
            untimed('WTASSUSE', wtassusn, wtassuse), untimed('WTASDBET', wtasdbct, wtasdbet),
            untimed('WTASSSTC', wtascsec, wtassstc), untimed('WTASMSTC', wtascmec, wtasmstc),
            untimed('WTASPSE0', wtaspsn0, wtaspse0)
        ]
    FROM inputs.wtas
    UNION ALL
    SELECT
        system, qmgr, interval_start, interval_seconds, [untimed('WTASLWET', wtaslwn, wtaslwet)]
    FROM inputs.wtas_latch
    UNION ALL
    SELECT
        system, qmgr, interval_start, interval_seconds, [untimed('QJSTIOTOTIO', qjstiocount, qjstiototio)]
    FROM inputs.qjst_io
    UNION ALL
    SELECT
        system, qmgr, interval_start, interval_seconds, [
            untimed('QIS1GETT', qis1getn, qis1gett), untimed('QIS1DWPT', qis1dwpn, qis1dwpt),
            untimed('QIS1IMWT', qis1imwn, qis1imwt)
        ]
    FROM inputs.qis1
    UNION ALL
    SELECT
        system, qmgr, interval_start, interval_seconds, [
            untimed('QCTELTM', qctreqn, qcteltm), untimed('QCTCPTM', qctreqn, qctcptm)
        ]
    FROM (FROM inputs.qct_adp UNION ALL BY NAME FROM inputs.qct_dsp UNION ALL BY NAME FROM inputs.qct_ssl)
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
        string_agg(field || ' in ' || records, ', ' ORDER BY field) AS fields
    FROM wrapped
    GROUP BY ALL
)
SELECT
    system, qmgr, '' AS object, '' AS job, coalesce(first, began) AS start,
    coalesce((ended_us - epoch_us(first)) / 1e6, 0) AS seconds, utc_offset, mq_version,
    coalesce(records, 0) AS records, fields
FROM written
LEFT JOIN counted USING (system, qmgr)
