-- QALL: a row a section and queue, by the name it was opened by: what all tasks did on it (WQST).
WITH
shortest AS (
    SELECT section, objname, min(minlatnt) AS shortest
    FROM sectioned.wqst
    WHERE validget > 0
    GROUP BY ALL
)
SELECT
    section, objname, nullif(basename, objname) AS base, nullif(cfstrucname, '') AS structure,
    (openn::BIGINT + closen + getn + putn + put1n + inqn + setn + coalesce(cbn, 0))::BIGINT
        AS queue_requests,
    openn, openet / nullif(openn, 0) AS open_elapsed,
    openct / nullif(openn, 0) AS open_cpu,
    closen, closeet / nullif(closen, 0) AS close_elapsed,
    closect / nullif(closen, 0) AS close_cpu,
    getn, getet / nullif(getn, 0) AS get_elapsed,
    getct / nullif(getn, 0) AS get_cpu,
    putn, putet / nullif(putn, 0) AS put_elapsed,
    putct / nullif(putn, 0) AS put_cpu,
    put1n, put1et / nullif(put1n, 0) AS put1_elapsed,
    put1ct / nullif(put1n, 0) AS put1_cpu,
    validput, putmaxms, putminms,
    putbytes / nullif(validput, 0) AS put_size,
    putbytes,
    inqn, inqet / nullif(inqn, 0) AS inq_elapsed,
    inqct / nullif(inqn, 0) AS inq_cpu,
    setn, setet / nullif(setn, 0) AS set_elapsed,
    setct / nullif(setn, 0) AS set_cpu,
    cbn, cbet / nullif(cbn, 0) AS cb_elapsed,
    cbct / nullif(cbn, 0) AS cb_cpu,
    validget, getdval, geterr, geta, gets, getbrwa, getbrws, getmaxms, getminms,
    getbytes / nullif(validget, 0) AS get_size,
    getbytes, getpmsg, putpmsg, put1pmsg,
    CASE WHEN validget > 0 THEN maxlatnt END AS on_queue_maximum,
    shortest AS on_queue_minimum,
    totlatnt / nullif(validget, 0) AS on_queue_average,
    getjwn, getjwet / nullif(getjwn, 0) AS get_log_write,
    getjcn, getjcet / nullif(getjcn, 0) AS get_log_force,
    putjwn, putjwet / nullif(putjwn, 0) AS put_log_write,
    putjcn, putjcet / nullif(putjcn, 0) AS put_log_force,
    put1jwn, put1jwet / nullif(put1jwn, 0) AS put1_log_write,
    put1jcn, put1jcet / nullif(put1jcn, 0) AS put1_log_force,
    setjwn, setjwet / nullif(setjwn, 0) AS set_log_write,
    setjcn, setjcet / nullif(setjcn, 0) AS set_log_force,
    getpsn, getpset / nullif(getpsn, 0) AS get_page_set,
    putpsn, putpset / nullif(putpsn, 0) AS put_page_set,
    put1psn, put1pset / nullif(put1psn, 0) AS put1_page_set,
    opensun, opensuet / nullif(opensun, 0) AS open_suspend,
    closesun, closesuet / nullif(closesun, 0) AS close_suspend,
    getsusn, getsuset / nullif(getsusn, 0) AS get_suspend,
    putsusn, putsuset / nullif(putsusn, 0) AS put_suspend,
    put1susn, put1suset / nullif(put1susn, 0) AS put1_suspend,
    getepage, getsmsg, getexmsg, putpwg, put1pwg, putdsq, putigq, put1igq, ngen, publishedn,
    putddly, streamedn, selcount, selmaxln, topicopensrb, topicclosesrb, topicputsrb,
    topicput1srb, opencf0, closecf0,
    maxqdpth,
    openet + closeet + getet + putet + put1et + inqet + setet + coalesce(cbet, 0) AS queue_elapsed,
    openct + closect + getct + putct + put1ct + inqct + setct + coalesce(cbct, 0) AS queue_cpu
FROM grouped.wqst
LEFT JOIN shortest USING (section, objname)
