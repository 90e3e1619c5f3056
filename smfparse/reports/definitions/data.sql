-- DATA: one row per section. What the data manager (QIST) did with objects and messages.
SELECT
    section,
    qistmget, qistmput, qistgetb, qistgetd, qistmcnt, qistmblr, qistlomm, qistdlmm,
    qistdcre, qistdput, qistddel, qistdget, qistdloc, qistenum, qistalst, qistraio, qistrabp,
    100 * qistgetd::DOUBLE / nullif(qistgetd::BIGINT + qistgetb, 0) AS from_page_set,
    qistmput / nullif(interval_seconds, 0) AS puts_per_second,
    qistmget / nullif(interval_seconds, 0) AS gets_per_second
FROM grouped.qist
