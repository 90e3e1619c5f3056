-- BUFF: one row per section and buffer pool (QPST).
SELECT
    section,
    qpstpool, qpstnbuf, qpstcbsl, qpstgetn, qpstgetp, qpstrio, qpsttpw, qpstwio, qpstimw,
    qpstcbs, qpststw, qpstdwt, qpstdmc, qpststl, qpststla, qpstsos, qpstloc, qpstf4kb,
    100 * qpstcbsl::DOUBLE / nullif(qpstnbuf, 0) AS low_percent,
    100 * qpstcbs::DOUBLE / nullif(qpstnbuf, 0) AS now_percent,
    100 * (1 - qpstcbsl / nullif(qpstnbuf, 0)) AS used_percent,
    qpsttpw / nullif(qpstwio, 0) AS pages_per_write,
    (qpstrio::BIGINT + qpstwio) / nullif(interval_seconds, 0) AS ios_per_second,
    CASE qpstloc WHEN true THEN 'Above' WHEN false THEN 'Below' END AS location,
    CASE qpstf4kb WHEN true THEN 'Fixed' WHEN false THEN 'Pageable' END AS pages
FROM grouped.qpst
