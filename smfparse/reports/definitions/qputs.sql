-- QPUTS: one row per section and queue: what tasks put to it (WQST).
SELECT
    section, objname, putn, put1n, putbytes, putmaxms, putminms, validput,
    putbytes / nullif(validput, 0) AS put_size,
    list_sum([putet, put1et]) / nullif(list_sum([putet_n, put1et_n]), 0) AS put_elapsed,
    list_sum([putct, put1ct]) / nullif(list_sum([putct_n, put1ct_n]), 0) AS put_cpu,
    (putpmsg::BIGINT + put1pmsg)::BIGINT AS persistent,
    (putpwg::BIGINT + put1pwg)::BIGINT AS to_getter, streamedn
FROM grouped.wqst
