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
            CASE WHEN openn > 0 AND openet IS NULL THEN 'OPENET' END,
            CASE WHEN openn > 0 AND openct IS NULL THEN 'OPENCT' END,
            CASE WHEN closen > 0 AND closeet IS NULL THEN 'CLOSEET' END,
            CASE WHEN closen > 0 AND closect IS NULL THEN 'CLOSECT' END,
            CASE WHEN getn > 0 AND getet IS NULL THEN 'GETET' END,
            CASE WHEN getn > 0 AND getct IS NULL THEN 'GETCT' END,
            CASE WHEN putn > 0 AND putet IS NULL THEN 'PUTET' END,
            CASE WHEN putn > 0 AND putct IS NULL THEN 'PUTCT' END,
            CASE WHEN put1n > 0 AND put1et IS NULL THEN 'PUT1ET' END,
            CASE WHEN put1n > 0 AND put1ct IS NULL THEN 'PUT1CT' END,
            CASE WHEN inqn > 0 AND inqet IS NULL THEN 'INQET' END,
            CASE WHEN inqn > 0 AND inqct IS NULL THEN 'INQCT' END,
            CASE WHEN setn > 0 AND setet IS NULL THEN 'SETET' END,
            CASE WHEN setn > 0 AND setct IS NULL THEN 'SETCT' END,
            CASE WHEN cbn > 0 AND cbet IS NULL THEN 'CBET' END,
            CASE WHEN cbn > 0 AND cbct IS NULL THEN 'CBCT' END,
            CASE WHEN validget > 0 AND totlatnt IS NULL THEN 'TOTLATNT' END
        ] AS fields
    FROM inputs.wqst
    UNION ALL
    SELECT
        system, qmgr, interval_start, interval_seconds, [
            CASE WHEN wtascmn > 0 AND wtascmet IS NULL THEN 'WTASCMET' END,
            CASE WHEN wtascmn > 0 AND wtascmct IS NULL THEN 'WTASCMCT' END,
            CASE WHEN wtasban > 0 AND wtasbaet IS NULL THEN 'WTASBAET' END,
            CASE WHEN wtasban > 0 AND wtasbact IS NULL THEN 'WTASBACT' END,
            CASE WHEN wtasotn > 0 AND wtasotet IS NULL THEN 'WTASOTET' END,
            CASE WHEN wtasotn > 0 AND wtasotct IS NULL THEN 'WTASOTCT' END,
            CASE WHEN wtasprn > 0 AND wtaspret IS NULL THEN 'WTASPRET' END,
            CASE WHEN wtasprn > 0 AND wtasprct IS NULL THEN 'WTASPRCT' END,
            CASE WHEN wtasjwn > 0 AND wtasjwet IS NULL THEN 'WTASJWET' END,
            CASE WHEN wtasjcn > 0 AND wtasjcet IS NULL THEN 'WTASJCET' END,
            CASE WHEN wtassusn > 0 AND wtassuse IS NULL THEN 'WTASSUSE' END,
            CASE WHEN wtasdbct > 0 AND wtasdbet IS NULL THEN 'WTASDBET' END,
            CASE WHEN wtascsec > 0 AND wtassstc IS NULL THEN 'WTASSSTC' END,
            CASE WHEN wtascmec > 0 AND wtasmstc IS NULL THEN 'WTASMSTC' END,
            CASE WHEN wtaspsn0 > 0 AND wtaspse0 IS NULL THEN 'WTASPSE0' END
        ]
    FROM inputs.wtas
    UNION ALL
    SELECT
        system, qmgr, interval_start, interval_seconds, [
            CASE WHEN wtaslwn > 0 AND wtaslwet IS NULL THEN 'WTASLWET' END
        ]
    FROM inputs.wtas_latch
    UNION ALL
    SELECT
        system, qmgr, interval_start, interval_seconds, [
            CASE WHEN qjstiocount > 0 AND qjstiototio IS NULL THEN 'QJSTIOTOTIO' END
        ]
    FROM inputs.qjst_io
    UNION ALL
    SELECT
        system, qmgr, interval_start, interval_seconds, [
            CASE WHEN qis1getn > 0 AND qis1gett IS NULL THEN 'QIS1GETT' END,
            CASE WHEN qis1dwpn > 0 AND qis1dwpt IS NULL THEN 'QIS1DWPT' END,
            CASE WHEN qis1imwn > 0 AND qis1imwt IS NULL THEN 'QIS1IMWT' END
        ]
    FROM inputs.qis1
    UNION ALL
    SELECT
        system, qmgr, interval_start, interval_seconds, [
            CASE WHEN qctreqn > 0 AND qcteltm IS NULL THEN 'QCTELTM' END,
            CASE WHEN qctreqn > 0 AND qctcptm IS NULL THEN 'QCTCPTM' END
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
