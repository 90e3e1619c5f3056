-- STG: rows of four kinds a section: what the storage manager did (QSST), the regions (QSRS),
-- one row per pool (QSPH), and a row for each place that issues GETMAIN (QSGM).
SELECT
    section, 1 AS place, 'requests' AS line,
    qsstgplf, qsstfplf, qsstfref, qsstexpf, qsstconf, qsstgplv, qsstfplv, qsstfrev, qsstexpv,
    qsstconv, qsstgetm, qsstfrem, qsstrcnz, qsstcont, qsstcrit, qsstabnd
FROM grouped.qsst
UNION ALL BY NAME
SELECT
    section, 2 AS place, 'regions' AS line,
    qsrsphbgf, qsrsphbgv, qsrsphblf, qsrsphblv, qsrsgmbt, qsrsstkt,
    printf('%08X', qsrsstrta::BIGINT & 4294967295) AS region_start,
    printf('%08X', qsrscrgtp::BIGINT & 4294967295) AS region_top,
    qsrssiza, qsrslimit, qsrsloal, qsrsoloal, qsrshial, qsrsohial, qsrssmfl, qsrssmfr,
    printf('%08X', qsrsestra::BIGINT & 4294967295) AS extended_start,
    printf('%08X', qsrsergtp::BIGINT & 4294967295) AS extended_top,
    qsrsesiza, qsrselim, qsrseloal, qsrsoeloal, qsrsehial, qsrsoehial, qsrssmfel, qsrssmfer,
    qsrsaval, qsrsmvs, qsrscrit, qsrssos,
    100 * qsrsaval::DOUBLE / nullif(qsrsesiza, 0) AS extended_free,
    qsrsmemlim, qsrsmemlims, qsrsabytes, qsrsgbytes, qsrsnmomb, qsrsfmct,
    qsrsaval64, qsrscush64, qsrssmds64,
    qsrsphblgf, qsrsphblgv, qsrsphbllf, qsrsphbllv, qsrsgmbl
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
    qsgmcsect, printf('%08X', qsgmoffset::BIGINT & 4294967295) AS caller_offset, qsgmscls,
    qsgmlvtot, qsgmcount, qsgmlvnew, qsgmlvmax, qsgmlvmin
FROM grouped.qsgm
