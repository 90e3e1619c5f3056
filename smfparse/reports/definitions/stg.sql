-- STG: rows of four kinds a section: what the storage manager did (QSST), the regions (QSRS),
-- one row per pool (QSPH), and a row for each place that issues GETMAIN (QSGM).
SELECT
    section, 1 AS place, 'requests' AS line, COLUMNS('^qsst')
FROM grouped.qsst
UNION ALL BY NAME
SELECT
    section, 2 AS place, 'regions' AS line,
    COLUMNS(lambda name: name LIKE 'qsrs%' AND name NOT IN ('qsrsstrta', 'qsrscrgtp', 'qsrsestra', 'qsrsergtp')),
    hexadecimal(qsrsstrta) AS region_start, hexadecimal(qsrscrgtp) AS region_top,
    hexadecimal(qsrsestra) AS extended_start, hexadecimal(qsrsergtp) AS extended_top,
    100 * qsrsaval::DOUBLE / nullif(qsrsesiza, 0) AS extended_free
FROM grouped.qsrs
UNION ALL BY NAME
SELECT
    section, 3 AS place, 'pool' AS line,
    qsphname,
    concat_ws(' ',
        CASE qsphfixed WHEN true THEN 'Fixed' WHEN false THEN 'Variable' END,
        CASE qsphglob WHEN true THEN 'Global' WHEN false THEN 'Local' END,
        CASE qsph64bit WHEN true THEN '64-bit' WHEN false THEN '31-bit' END,
        CASE WHEN qsphivsa THEN 'IVSA' END
    ) AS attributes,
    CASE WHEN qsphdspc THEN qsphdspnm END AS data_space,
    qsphstor, qsphostor, qsphstor::BIGINT - qsphostor AS growth,
    qsphxstor, qsphbsize, qsphbcnt, qsphcount
FROM grouped.qsph
UNION ALL BY NAME
SELECT
    section, 4 AS place, 'getmain' AS line,
    qsgmcsect, hexadecimal(qsgmoffset) AS caller_offset, qsgmscls,
    qsgmlvtot, qsgmcount, qsgmlvnew, qsgmlvmax, qsgmlvmin
FROM grouped.qsgm
