-- PSET: one row per section and page set (QIS1).
SELECT
    section,
    qis1psno, qis1bpno, qis1topg, qis1unpg, qis1ppg, qis1nppg, qis1full, qis1pchi,
    qis1topg::BIGINT - qis1unpg AS used,
    100 * used::DOUBLE / nullif(qis1topg, 0) AS used_percent,
    qis1expn, qis1strn, qis1expm_text, qis1stat_text, qis1expf, qis1encf,
    qis1dwpn, qis1dwpp, qis1dwpt / nullif(qis1dwpt_n, 0) AS deferred_average,
    qis1dwpp / nullif(qis1dwpn, 0) AS deferred_pages,
    qis1imwn, qis1imwp, qis1imwt / nullif(qis1imwt_n, 0) AS immediate_average,
    qis1imwp / nullif(qis1imwn, 0) AS immediate_pages,
    qis1getn, qis1getp, qis1gett / nullif(qis1gett_n, 0) AS read_average,
    qis1getp / nullif(qis1getn, 0) AS read_pages,
    qis1ckpp,
    (qis1dwpn::BIGINT + qis1imwn + qis1getn) / nullif(interval_seconds, 0) AS ios_per_second,
    100 * (qis1dwpt + qis1imwt + qis1gett) / nullif(interval_seconds * 1e6, 0) AS io_busy
FROM grouped.qis1
