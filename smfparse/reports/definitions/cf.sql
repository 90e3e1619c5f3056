-- CF: one row per section and coupling facility structure (QEST).
SELECT
    section, qeststrn, qeststr,
    qestcsec, qestsstc / nullif(qestsstc_n, 0) AS single_average,
    100 * qestrsec::DOUBLE / nullif(qestcsec, 0) AS single_redriven, qestrsec,
    qestcmec, qestmstc / nullif(qestmstc_n, 0) AS multiple_average,
    100 * qestrmec::DOUBLE / nullif(qestcmec, 0) AS multiple_redriven, qestrmec,
    qestsful, qestmnus, qestmlus,
    (qestcsec::BIGINT + qestcmec) / nullif(interval_seconds, 0) AS calls_per_second
FROM grouped.qest
