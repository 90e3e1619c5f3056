-- QGETS: one row per section and queue: what tasks got from it (WQST).
WITH
shortest AS (
    SELECT section, objname, min(minlatnt) AS shortest
    FROM sectioned.wqst
    WHERE validget > 0
    GROUP BY ALL
)
SELECT
    section, objname, getn, validget, getbytes, getmaxms, getminms,
    getbytes / nullif(validget, 0) AS get_size,
    getet / nullif(getet_n, 0) AS get_elapsed,
    getct / nullif(getct_n, 0) AS get_cpu,
    getdval, (getbrwa::BIGINT + getbrws)::BIGINT AS browses, geterr, getpmsg, getpsn, getepage,
    getsmsg, getexmsg,
    CASE WHEN validget > 0 THEN maxlatnt END AS on_queue_maximum,
    shortest AS on_queue_minimum,
    totlatnt / nullif(totlatnt_n, 0) AS on_queue_average
FROM grouped.wqst
LEFT JOIN shortest USING (section, objname)
