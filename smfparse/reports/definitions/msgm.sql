-- MSGM: one row per section. Calls that the message manager served (QMST), those that failed as well.
SELECT
    section,
    qmstput, qmstput1, qmstget, qmstopen, qmstclos, qmstinq, qmstinql, qmstset, qmstendw, qmstcalh,
    qmstsub, qmstsubr, qmstcb, qmstctl, qmststus, qmstpubs,
    (qmstput::BIGINT + qmstput1) / nullif(interval_seconds, 0) AS puts_per_second,
    qmstget / nullif(interval_seconds, 0) AS gets_per_second,
    qmstspp, qmstsnp, qmstpbp, qmstnbp,
    qmstocpa, qmstocga, qmstoahc, qmstocda, qmstocpd, qmstocgd, qmstocmp, qmstocps, qmstocgs,
    qmstosps, qmstoscs, qmstosns, qmstospl, qmstoscl, qmstosfs, qmstosok, qmstosfr, qmstosfc,
    qmstotso, qmstotsr, qmstotsc, qmstotsk,
    qmstotpu / 1e6 AS span_cpu_seconds,
    qmstotpw / 1e6 AS span_idle_seconds,
    qmstotpd / 1e6 AS span_smf_wait_seconds,
    qmstobse, qmstobcp, qmstobcd
FROM grouped.qmst
