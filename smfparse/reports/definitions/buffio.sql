-- BUFFIO: one row per section and buffer pool (QPST), seen by its I/O.
SELECT
    section, qpstpool,
    qpstrio, qpstrio / nullif(interval_seconds, 0) AS reads_per_second,
    100 * qpstrio::DOUBLE / nullif(qpstgetp, 0) AS gets_read,
    qpsttpw, qpstwio, qpsttpw / nullif(qpstwio, 0) AS pages_per_write,
    qpstwio / nullif(interval_seconds, 0) AS writes_per_second,
    100 * qpsttpw::DOUBLE / nullif(qpststw, 0) AS updates_written,
    qpstimw, qpstdwt, qpstdmc, qpstsos, qpststw,
    qpsttpw / 256 / nullif(interval_seconds, 0) AS mb_written_per_second
FROM grouped.qpst
