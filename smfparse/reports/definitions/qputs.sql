-- QPUTS: one row per section and queue: what tasks put to it (WQST).
SELECT
    section, objname, putn, put1n, putbytes, putmaxms, putminms, validput,
    putbytes / nullif(validput, 0) AS put_size,
    (putet + put1et) / nullif(putn::BIGINT + put1n, 0) AS put_elapsed,
    (putct + put1ct) / nullif(putn::BIGINT + put1n, 0) AS put_cpu,
    (putpmsg::BIGINT + put1pmsg)::BIGINT AS persistent,
    (putpwg::BIGINT + put1pwg)::BIGINT AS to_getter, streamedn
FROM grouped.wqst
