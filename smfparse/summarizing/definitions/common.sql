-- What several lines are made of, each worked out once. CPU in microseconds.
WITH
queue_calls AS (
    SELECT
        system, qmgr, begin_of_row(interval_start, interval_seconds) AS start,
        seconds_of_row(interval_seconds) AS seconds,
        sum(openn) AS open_n, sum(closen) AS close_n, sum(getn) AS get_n, sum(putn) AS put_n,
        sum(put1n) AS put1_n, sum(inqn) AS inq_n, sum(setn) AS set_n, sum(cbn) AS cb_n,
        total(openct) AS open_cpu, total(closect) AS close_cpu, total(getct) AS get_cpu,
        total(putct) AS put_cpu, total(put1ct) AS put1_cpu, total(inqct) AS inq_cpu,
        total(setct) AS set_cpu, total(cbct) AS cb_cpu
    FROM inputs.wqst
    GROUP BY ALL
),
task_calls AS (
    SELECT
        system, qmgr, begin_of_row(interval_start, interval_seconds) AS start,
        seconds_of_row(interval_seconds) AS seconds,
        sum(wtascmn) AS commit_n, sum(wtasban) AS backout_n, sum(wtasprn) AS prepare_n,
        sum(wtasotn) AS other_n,
        total(wtascmct) AS commit_cpu, total(wtasbact) AS backout_cpu, total(wtasprct) AS prepare_cpu,
        total(wtasotct) AS other_cpu
    FROM inputs.wtas
    GROUP BY ALL
),
every_verb AS (
    SELECT
        system, qmgr, start, seconds,
        unnest([
            {'verb': 'open', 'calls': open_n, 'cpu': open_cpu},
            {'verb': 'close', 'calls': close_n, 'cpu': close_cpu},
            {'verb': 'get', 'calls': get_n, 'cpu': get_cpu},
            {'verb': 'put', 'calls': put_n, 'cpu': put_cpu},
            {'verb': 'put1', 'calls': put1_n, 'cpu': put1_cpu},
            {'verb': 'inq', 'calls': inq_n, 'cpu': inq_cpu},
            {'verb': 'set', 'calls': set_n, 'cpu': set_cpu},
            {'verb': 'cb', 'calls': cb_n, 'cpu': cb_cpu}
        ]) AS call
    FROM queue_calls
    UNION ALL
    SELECT
        system, qmgr, start, seconds,
        unnest([
            {'verb': 'commit', 'calls': commit_n, 'cpu': commit_cpu},
            {'verb': 'backout', 'calls': backout_n, 'cpu': backout_cpu},
            {'verb': 'prepare', 'calls': prepare_n, 'cpu': prepare_cpu},
            {'verb': 'other', 'calls': other_n, 'cpu': other_cpu}
        ]) AS call
    FROM task_calls
),
-- CPU and calls of API verbs: one row per system, queue manager, minute and verb.
verbs AS MATERIALIZED (
    SELECT system, qmgr, start, seconds, call.verb AS verb, call.calls AS calls, call.cpu AS cpu
    FROM every_verb
    WHERE call.calls > 0 OR call.cpu > 0
),
owners AS MATERIALIZED (SELECT * FROM owners('inputs.wtid')),
-- What calls about queues did: one row per user, queue and minute.
queue_work AS MATERIALIZED (
    SELECT
        system, qmgr, start, seconds, queue_of(objname, basename) AS queue, is_shared, job,
        nullif(channel, '') AS channel, coalesce("transaction", psb) AS "transaction",
        sum(validput)::DOUBLE AS puts, sum(coalesce(getdval, validget))::DOUBLE AS gets,
        sum(getbytes)::DOUBLE AS got_bytes,
        total(of_all_verbs(openct, closect, getct, putct, put1ct, inqct, setct, cbct)) AS cpu
    FROM (
        SELECT
            *, coalesce(task_source, source) AS of_source,
            coalesce(task_record_offset, record_offset) AS task_record,
            nullif(cfstrucname, '') IS NOT NULL AS is_shared,
            begin_of_row(interval_start, interval_seconds) AS start,
            seconds_of_row(interval_seconds) AS seconds
        FROM inputs.wqst
    )
    LEFT JOIN owners USING (of_source, task_record)
    GROUP BY system, qmgr, start, seconds, objname, basename, is_shared, job, channel,
        coalesce("transaction", psb)
),
-- CPU of all calls: of those about queues, and of the others.
cpu_of_jobs AS (
    SELECT system, qmgr, job, "transaction", start, seconds, cpu FROM queue_work
    UNION ALL
    SELECT
        system, qmgr, job, coalesce("transaction", psb), begin_of_row(interval_start, interval_seconds),
        seconds_of_row(interval_seconds),
        total(
            wtascmct + wtasbact + coalesce(wtasprct, 0) + coalesce(wtassuct, 0)
            + coalesce(wtassqct, 0) + coalesce(wtasctct, 0) + coalesce(wtasstct, 0)
            + coalesce(wtastpct, 0) + wtasotct
        )
    FROM (
        SELECT
            *, coalesce(task_source, source) AS of_source,
            coalesce(task_record_offset, record_offset) AS task_record
        FROM inputs.wtas
    )
    LEFT JOIN owners USING (of_source, task_record)
    GROUP BY ALL
),
-- Channels that are known to be others than those of clients.
message_channels AS (
    SELECT DISTINCT system, qmgr, qcstchnm AS channel
    FROM inputs.qcst
    WHERE qcstchty_text <> 'Server-connection'
)
