-- MSGM: one row a section. Calls that the message manager served (QMST), those that failed as well.
SELECT
    section,
    qmstput, qmstput1, qmstget, qmstopen, qmstclos, qmstinq, qmstinql, qmstset, qmstendw, qmstcalh,
    qmstsub, qmstsubr, qmstcb, qmstctl, qmststus, qmstpubs,
    (qmstput + qmstput1) / nullif(interval_seconds, 0) AS puts_per_second,
    qmstget / nullif(interval_seconds, 0) AS gets_per_second,
    qmstspp, qmstsnp, qmstpbp, qmstnbp
FROM grouped.qmst
