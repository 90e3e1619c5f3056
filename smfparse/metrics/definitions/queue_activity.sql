-- One row per queue block: what a task did on a queue in an interval (WQST), and whose it is (WTID).
WITH
queues AS (
    SELECT
        *, coalesce(task_source, source) AS of_source,
        coalesce(task_record_offset, record_offset) AS task_record,
        nullif(cfstrucname, '') AS structure
    FROM wqst
)
SELECT
    input_no, system, qmgr, qsg, mq_version, smf_time, counted_at, time, utc_offset,
    interval_start, interval_seconds, source, record_no, block_no, task_record_no,
    task_of_wqst(correl) AS token, job, "user", connection_type, "transaction", psb, cics_task, channel,
    queue_of(objname, basename) AS queue, objname AS opened_as, basename AS base_name,
    qtype_text AS queue_type, indxtype_text AS index_type, qsgdisp_text AS disposition, structure,
    CASE WHEN structure IS NULL THEN nps END AS page_set,
    CASE WHEN structure IS NULL THEN nbuffpool END AS buffer_pool,
    opentime AS opened, clostime AS closed,
    (openn::BIGINT + closen + getn + putn + put1n + inqn + setn + coalesce(cbn, 0))::BIGINT
        AS calls,
    of_all_verbs(openet, closeet, getet, putet, put1et, inqet, setet, cbet) AS elapsed,
    of_all_verbs(openct, closect, getct, putct, put1ct, inqct, setct, cbct) AS cpu,
    elapsed / nullif(of_all_verbs(
        timed(openn, openet), timed(closen, closeet), timed(getn, getet), timed(putn, putet),
        timed(put1n, put1et), timed(inqn, inqet), timed(setn, setet), timed(cbn, cbet)
    ), 0) AS elapsed_per_call,
    cpu / nullif(of_all_verbs(
        timed(openn, openct), timed(closen, closect), timed(getn, getct), timed(putn, putct),
        timed(put1n, put1ct), timed(inqn, inqct), timed(setn, setct), timed(cbn, cbct)
    ), 0) AS cpu_per_call,
    openn AS opens, openet AS open_elapsed, openct AS open_cpu,
    closen AS closes, closeet AS close_elapsed, closect AS close_cpu,
    getn AS gets, getet AS get_elapsed, getct AS get_cpu,
    putn AS puts, putet AS put_elapsed, putct AS put_cpu,
    put1n AS put1s, put1et AS put1_elapsed, put1ct AS put1_cpu,
    inqn AS inqs, inqet AS inq_elapsed, inqct AS inq_cpu,
    setn AS sets, setet AS set_elapsed, setct AS set_cpu,
    cbn AS callbacks, cbet AS callback_elapsed, cbct AS callback_cpu,
    list_sum([getjwet, putjwet, put1jwet, setjwet]) AS log_write_wait,
    list_sum([getjcet, putjcet, put1jcet, setjcet]) AS log_force_wait,
    list_sum([getpset, putpset, put1pset]) AS page_set_wait,
    list_sum([opensuet, closesuet, getsuset, putsuset, put1suset]) AS suspended,
    list_sum([topicopensrb, topicclosesrb, topicputsrb, topicput1srb]) AS srb,
    validput AS messages_put, putbytes AS bytes_put,
    putbytes / nullif(validput, 0) AS put_size,
    putminms AS smallest_put, putmaxms AS largest_put,
    (putpmsg::BIGINT + put1pmsg)::BIGINT AS persistent_put,
    validget AS messages_got, getbytes AS bytes_got,
    getbytes / nullif(validget, 0) AS get_size,
    getminms AS smallest_got, getmaxms AS largest_got,
    getpmsg AS persistent_got, getdval AS destructive_gets, geterr AS failed_gets,
    geta AS gets_any, gets AS gets_specific, getbrwa AS browses_any, getbrws AS browses_specific,
    (putpwg::BIGINT + put1pwg)::BIGINT AS put_to_waiting_getter,
    getepage AS pages_skipped, getsmsg AS messages_skipped, getexmsg AS messages_expired,
    ngen AS generated_messages, publishedn AS published, streamedn AS streamed,
    maxqdpth AS greatest_depth,
    CASE WHEN validget > 0 THEN minlatnt END AS time_on_queue_shortest,
    CASE WHEN validget > 0 THEN maxlatnt END AS time_on_queue_longest,
    totlatnt / nullif(validget, 0) AS time_on_queue_average
FROM queues
LEFT JOIN owners('wtid') USING (of_source, task_record)
