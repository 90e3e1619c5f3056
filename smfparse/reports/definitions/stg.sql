-- STG: per section, a row for the requests to the storage manager (QSST), a row for the regions (QSRS), a row per
-- storage pool (QSPH), and a row per caller of GETMAIN (QSGM).
SELECT section, 1 AS place, 'requests' AS line, figures_of_qsst FROM grouped.qsst
UNION ALL BY NAME
SELECT section, 2 AS place, 'regions' AS line, figures_of_qsrs FROM grouped.qsrs
UNION ALL BY NAME
SELECT section, 3 AS place, 'pool' AS line, figures_of_qsph FROM grouped.qsph
UNION ALL BY NAME
SELECT section, 4 AS place, 'getmain' AS line, figures_of_qsgm FROM grouped.qsgm
