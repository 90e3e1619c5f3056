-- What views and reports share: macros that work on tables as they are and on those of sections alike.

-- The sum of doubles, the same to the last digit in whatever order they come: each is added as a whole number
-- of 2^-40, which holds times of the clock, and counts, exactly.
CREATE OR REPLACE MACRO total(number) AS sum((number::DOUBLE * 1099511627776)::HUGEINT) / 1099511627776;

-- What a row says whose number is the largest; of several such rows the last one by `place`.
CREATE OR REPLACE MACRO of_largest(shown, number, place) AS
    arg_max_null(shown, CASE WHEN number IS NOT NULL THEN (number, place) END);

-- What identifies a task, as text, from the token of WTAS and from that of WQST: when it started, by the TOD
-- clock without its last twelve bits, and two addresses.
CREATE OR REPLACE MACRO task_of_wtas(started_tod, thread) AS format(
    '{:013X}-{:08X}-{:08X}', started_tod >> 12, thread >> 32, thread & 4294967295
);
CREATE OR REPLACE MACRO task_of_wqst(correl) AS
    correl[1:13] || '-' || correl[17:24] || '-' || correl[25:32];

-- The tasks of a kind of a channel initiator in an interval, all of them together.
CREATE OR REPLACE MACRO tasks_together(tasks) AS TABLE
SELECT
    system, qmgr, '' AS object, '' AS job, start, seconds,
    any_value(utc_offset) AS utc_offset, any_value(mq_version) AS mq_version,
    count(*) AS tasks, sum(qctreqn)::DOUBLE AS requests, total(qcteltm) AS elapsed, total(qctcptm) AS cpu,
    avg(busy) AS mean_busy, max(busy) AS busiest, min(busy) AS idlest, arg_max(busy, block_no) AS last_busy,
    arg_max(block_no - 1, busy) AS number, arg_max(qctreqn, busy)::DOUBLE AS its_requests,
    max(qcteltm) AS its_elapsed
FROM query_table(tasks)
GROUP BY system, qmgr, start, seconds;

-- A kind of connection, as reports call it.
CREATE OR REPLACE MACRO connection_of(text) AS
    CASE text WHEN 'Batch or TSO' THEN 'Batch' ELSE text END;

-- How many records SMF lost, of SMF7NRF, SMF7NRO and SMF7NROX: the second is zero where it would overflow.
CREATE OR REPLACE MACRO lost_records(is_longer, short_count, long_count) AS
    CASE WHEN is_longer THEN long_count ELSE short_count END::BIGINT;

-- The queue that a name resolved to. Dynamic queues of a model are one: the name ends in 16 hex
-- digits that the queue manager put for the asterisk of DynamicQName.
CREATE OR REPLACE MACRO queue_of(objname, basename) AS CASE
    WHEN objname <> basename AND regexp_matches(basename, '[0-9A-F]{16}$')
    THEN regexp_replace(basename, '[0-9A-F]{16}$', '*')
    ELSE coalesce(nullif(basename, ''), objname)
END;

-- How many of the things that are counted a time is known of: none where it wrapped, and is NULL. An average is
-- what they took by these, so that neither is in it.
CREATE OR REPLACE MACRO timed(counted, took) AS CASE WHEN took IS NULL THEN 0 ELSE counted END;

-- The sum of what calls of eight verbs took, or of how many they were. It leaves out what is not known; NULL: nothing is.
CREATE OR REPLACE MACRO of_all_verbs(a, b, c, d, e, f, g, h) AS CASE
    WHEN coalesce(a, b, c, d, e, f, g, h) IS NOT NULL
    THEN 0::DOUBLE + coalesce(a, 0) + coalesce(b, 0) + coalesce(c, 0) + coalesce(d, 0)
        + coalesce(e, 0) + coalesce(f, 0) + coalesce(g, 0) + coalesce(h, 0)
END;

-- What API calls of a kind took: numbers, and microseconds of which some went on waiting. `elapsed_of` and `cpu_of`
-- are the calls that these times are known of.
CREATE OR REPLACE MACRO api_call(
    verb, calls, elapsed, cpu, log_wait, page_set_wait, suspended, srb
) AS {
    'verb': verb, 'calls': calls::BIGINT, 'elapsed': elapsed::DOUBLE, 'cpu': cpu::DOUBLE,
    'elapsed_of': timed(calls, elapsed)::BIGINT, 'cpu_of': timed(calls, cpu)::BIGINT,
    'log_wait': log_wait::DOUBLE, 'page_set_wait': page_set_wait::DOUBLE,
    'suspended': suspended::DOUBLE, 'srb': srb::DOUBLE
};

-- The API calls in WQST: one row per block and verb that was used, with all that is in the block.
CREATE OR REPLACE MACRO calls_of_queues(queues) AS TABLE
SELECT * EXCLUDE (call), call.*
FROM (
    SELECT
        *, coalesce(task_source, source) AS of_source,
        coalesce(task_record_offset, record_offset) AS task_record, task_of_wqst(correl) AS token,
        queue_of(objname, basename) AS queue,
        unnest([
            api_call('open', openn, openet, openct, NULL, NULL, opensuet, topicopensrb),
            api_call('close', closen, closeet, closect, NULL, NULL, closesuet, topicclosesrb),
            api_call('get', getn, getet, getct, getjwet + coalesce(getjcet, 0), getpset, getsuset,
                NULL),
            api_call('put', putn, putet, putct, putjwet + coalesce(putjcet, 0), putpset, putsuset,
                topicputsrb),
            api_call('put1', put1n, put1et, put1ct, put1jwet + coalesce(put1jcet, 0), put1pset,
                put1suset, topicput1srb),
            api_call('inq', inqn, inqet, inqct, NULL, NULL, NULL, NULL),
            api_call('set', setn, setet, setct, setjwet + coalesce(setjcet, 0), NULL, NULL, NULL),
            api_call('cb', cbn, cbet, cbct, NULL, NULL, NULL, NULL)
        ]) AS call
    FROM query_table(queues)
)
WHERE call.calls <> 0 OR call.elapsed <> 0 OR call.cpu <> 0;

-- The API calls in WTAS, which are about no queue, with all that is in the block.
CREATE OR REPLACE MACRO calls_of_tasks(tasks) AS TABLE
SELECT * EXCLUDE (call), call.*
FROM (
    SELECT
        *, coalesce(task_source, source) AS of_source,
        coalesce(task_record_offset, record_offset) AS task_record,
        task_of_wtas(task_started_tod, task_thread) AS token,
        unnest([
            api_call('commit', wtascmn, wtascmet, wtascmct, NULL, NULL, NULL, NULL),
            api_call('backout', wtasban, wtasbaet, wtasbact, NULL, NULL, NULL, NULL),
            api_call('prepare', wtasprn, wtaspret, wtasprct, NULL, NULL, NULL, NULL),
            api_call('sub', wtassun, wtassuet, wtassuct, NULL, NULL, NULL, NULL),
            api_call('subrq', wtassqn, wtassqet, wtassqct, NULL, NULL, NULL, NULL),
            api_call('ctl', wtasctn, wtasctet, wtasctct, NULL, NULL, NULL, wtasctsr),
            api_call('stat', wtasstn, wtasstet, wtasstct, NULL, NULL, NULL, NULL),
            api_call('topic', NULL, wtastpet, wtastpct, NULL, NULL, NULL, NULL),
            api_call('other', wtasotn, wtasotet, wtasotct, NULL, NULL, NULL, NULL)
        ]) AS call
    FROM query_table(tasks)
)
WHERE call.calls <> 0 OR call.elapsed <> 0 OR call.cpu <> 0;

-- Whose the records of class 3 are: one row per task and interval. Its 116/1 record says so, or where that
-- is not there its first 116/2 record. Rows of a task and interval, in whatever sources they are, have the same
-- `of_source` and `task_record`: source and byte of the 116/1 record, or where that is not there their own.
CREATE OR REPLACE MACRO owners(identities) AS TABLE
SELECT
    of_source, task_record, connection_of(wtidatyp_text) AS connection_type,
    wtidccn AS job, wtidopid AS "user", wtidtran AS thread_user,
    "transaction", psb, cics_task, wtidchl AS channel, wtidchlc AS connection
FROM (
    SELECT
        *, coalesce(task_source, source) AS of_source,
        coalesce(task_record_offset, record_offset) AS task_record
    FROM query_table(identities)
    WHERE block_no = 1
)
QUALIFY row_number() OVER (
    PARTITION BY of_source, task_record
    ORDER BY source <> of_source, source, record_offset
) = 1;

-- Where a row of accounting is over time, for charts: when it began, and its seconds. Records shorter than a minute
-- are put together by the minute that has their middle: there can be one for each transaction.
CREATE OR REPLACE MACRO begin_of_row(interval_start, interval_seconds) AS CASE
    WHEN interval_seconds < 60
    THEN time_bucket(INTERVAL 1 MINUTE, interval_start + to_microseconds((interval_seconds * 5e5)::BIGINT))
    ELSE date_trunc('second', interval_start + INTERVAL 500 MILLISECONDS)
END;
CREATE OR REPLACE MACRO seconds_of_row(interval_seconds) AS
    CASE WHEN interval_seconds <= 1e9 THEN greatest(60, round(interval_seconds)) END;

-- What calls on queues did over time: one row per time, queue and user. `users` names rows of owners. Of each verb
-- its calls (_n), their CPU and elapsed time in microseconds, and of how many calls the latter is known (_of).
CREATE OR REPLACE MACRO queue_calls(queues, users) AS TABLE
SELECT
    system, qmgr, start, seconds, queue_of(objname, basename) AS queue, is_shared, job,
    coalesce("transaction", psb) AS "transaction", nullif(channel, '') AS channel,
    sum(openn) AS open_n, sum(closen) AS close_n, sum(getn) AS get_n, sum(putn) AS put_n, sum(put1n) AS put1_n,
    sum(inqn) AS inq_n, sum(setn) AS set_n, sum(cbn) AS cb_n,
    total(openct) AS open_cpu, total(closect) AS close_cpu, total(getct) AS get_cpu, total(putct) AS put_cpu,
    total(put1ct) AS put1_cpu, total(inqct) AS inq_cpu, total(setct) AS set_cpu, total(cbct) AS cb_cpu,
    total(openet) AS open_time, total(closeet) AS close_time, total(getet) AS get_time, total(putet) AS put_time,
    total(put1et) AS put1_time, total(inqet) AS inq_time, total(setet) AS set_time, total(cbet) AS cb_time,
    sum(timed(openn, openet)) AS open_of, sum(timed(closen, closeet)) AS close_of, sum(timed(getn, getet)) AS get_of,
    sum(timed(putn, putet)) AS put_of, sum(timed(put1n, put1et)) AS put1_of, sum(timed(inqn, inqet)) AS inq_of,
    sum(timed(setn, setet)) AS set_of, sum(timed(cbn, cbet)) AS cb_of,
    sum(validput)::DOUBLE AS puts, sum(coalesce(getdval, validget))::DOUBLE AS gets,
    sum(putbytes)::DOUBLE AS put_bytes, sum(getbytes)::DOUBLE AS got_bytes,
    total(of_all_verbs(openct, closect, getct, putct, put1ct, inqct, setct, cbct)) AS cpu,
    total(of_all_verbs(openet, closeet, getet, putet, put1et, inqet, setet, cbet)) AS elapsed
FROM (
    SELECT
        *, coalesce(task_source, source) AS of_source, coalesce(task_record_offset, record_offset) AS task_record,
        nullif(cfstrucname, '') IS NOT NULL AS is_shared,
        begin_of_row(interval_start, interval_seconds) AS start, seconds_of_row(interval_seconds) AS seconds
    FROM query_table(queues)
)
LEFT JOIN query_table(users) USING (of_source, task_record)
GROUP BY
    system, qmgr, start, seconds, objname, basename, is_shared, job, coalesce("transaction", psb), channel;

-- The same of calls that are about no queue: one row per time and user.
CREATE OR REPLACE MACRO task_calls(tasks, users) AS TABLE
SELECT
    system, qmgr, start, seconds, job, coalesce("transaction", psb) AS "transaction",
    nullif(channel, '') AS channel,
    sum(wtascmn) AS commit_n, sum(wtasban) AS backout_n, sum(wtasprn) AS prepare_n, sum(wtassun) AS sub_n,
    sum(wtassqn) AS subrq_n, sum(wtasctn) AS ctl_n, sum(wtasstn) AS stat_n, NULL::BIGINT AS topic_n,
    sum(wtasotn) AS other_n,
    total(wtascmct) AS commit_cpu, total(wtasbact) AS backout_cpu, total(wtasprct) AS prepare_cpu,
    total(wtassuct) AS sub_cpu, total(wtassqct) AS subrq_cpu, total(wtasctct) AS ctl_cpu, total(wtasstct) AS stat_cpu,
    total(wtastpct) AS topic_cpu, total(wtasotct) AS other_cpu,
    total(wtascmet) AS commit_time, total(wtasbaet) AS backout_time, total(wtaspret) AS prepare_time,
    total(wtassuet) AS sub_time, total(wtassqet) AS subrq_time, total(wtasctet) AS ctl_time,
    total(wtasstet) AS stat_time, total(wtastpet) AS topic_time, total(wtasotet) AS other_time,
    sum(timed(wtascmn, wtascmet)) AS commit_of, sum(timed(wtasban, wtasbaet)) AS backout_of,
    sum(timed(wtasprn, wtaspret)) AS prepare_of, sum(timed(wtassun, wtassuet)) AS sub_of,
    sum(timed(wtassqn, wtassqet)) AS subrq_of, sum(timed(wtasctn, wtasctet)) AS ctl_of,
    sum(timed(wtasstn, wtasstet)) AS stat_of, NULL::BIGINT AS topic_of, sum(timed(wtasotn, wtasotet)) AS other_of,
    total(of_all_verbs(wtascmct, wtasbact, wtasprct, wtassuct, wtassqct, wtasctct, wtasstct, wtasotct)
        + coalesce(wtastpct, 0)) AS cpu,
    total(of_all_verbs(wtascmet, wtasbaet, wtaspret, wtassuet, wtassqet, wtasctet, wtasstet, wtasotet)
        + coalesce(wtastpet, 0)) AS elapsed
FROM (
    SELECT
        *, coalesce(task_source, source) AS of_source, coalesce(task_record_offset, record_offset) AS task_record,
        begin_of_row(interval_start, interval_seconds) AS start, seconds_of_row(interval_seconds) AS seconds
    FROM query_table(tasks)
)
LEFT JOIN query_table(users) USING (of_source, task_record)
GROUP BY system, qmgr, start, seconds, job, coalesce("transaction", psb), channel;

-- Channels that are known to be others than those of clients.
CREATE OR REPLACE MACRO message_channels(channels) AS TABLE
SELECT DISTINCT system, qmgr, qcstchnm AS channel
FROM query_table(channels)
WHERE qcstchty_text <> 'Server-connection';
