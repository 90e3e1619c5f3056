-- What several panels of accounting are made of. The page spreads each row over the intervals of the queue manager.
WITH
owners AS MATERIALIZED (SELECT * FROM owners('inputs.wtid')),
queue_calls AS MATERIALIZED (
    SELECT
        system, qmgr, begin_of_row(interval_start, interval_seconds) AS start,
        seconds_of_row(interval_seconds) AS seconds,
        queue_of(objname, basename) AS queue, nullif(cfstrucname, '') IS NOT NULL AS is_shared,
        coalesce(job, '?') AS job, nullif(channel, '') AS channel,
        sum(openn) AS open_n, sum(closen) AS close_n, sum(getn) AS get_n, sum(putn) AS put_n,
        sum(put1n) AS put1_n, sum(inqn) AS inq_n, sum(setn) AS set_n, sum(cbn) AS cb_n,
        total(openct) AS open_cpu, total(closect) AS close_cpu, total(getct) AS get_cpu,
        total(putct) AS put_cpu, total(put1ct) AS put1_cpu, total(inqct) AS inq_cpu,
        total(setct) AS set_cpu, total(cbct) AS cb_cpu,
        total(openet) AS open_time, total(closeet) AS close_time, total(getet) AS get_time,
        total(putet) AS put_time, total(put1et) AS put1_time, total(inqet) AS inq_time,
        total(setet) AS set_time, total(cbet) AS cb_time,
        sum(timed(openn, openet)) AS open_of, sum(timed(closen, closeet)) AS close_of, sum(timed(getn, getet)) AS get_of,
        sum(timed(putn, putet)) AS put_of, sum(timed(put1n, put1et)) AS put1_of, sum(timed(inqn, inqet)) AS inq_of,
        sum(timed(setn, setet)) AS set_of, sum(timed(cbn, cbet)) AS cb_of,
        sum(validput)::DOUBLE AS puts, sum(coalesce(getdval, validget))::DOUBLE AS gets,
        sum(putbytes)::DOUBLE AS put_bytes, sum(getbytes)::DOUBLE AS got_bytes,
        list_sum([open_cpu, close_cpu, get_cpu, put_cpu, put1_cpu, inq_cpu, set_cpu, cb_cpu]) AS cpu,
        list_sum([open_time, close_time, get_time, put_time, put1_time, inq_time, set_time, cb_time])
            AS elapsed
    FROM (
        SELECT
            *, coalesce(task_source, source) AS of_source,
            coalesce(task_record_offset, record_offset) AS task_record
        FROM inputs.wqst
    )
    LEFT JOIN owners USING (of_source, task_record)
    GROUP BY ALL
),
task_calls AS MATERIALIZED (
    SELECT
        system, qmgr, begin_of_row(interval_start, interval_seconds) AS start,
        seconds_of_row(interval_seconds) AS seconds, coalesce(job, '?') AS job,
        nullif(channel, '') AS channel,
        sum(wtascmn) AS commit_n, sum(wtasban) AS backout_n, sum(wtasprn) AS prepare_n, sum(wtasotn) AS other_n,
        total(wtascmct) AS commit_cpu, total(wtasbact) AS backout_cpu, total(wtasprct) AS prepare_cpu,
        total(wtasotct) AS other_cpu,
        total(wtascmet) AS commit_time, total(wtasbaet) AS backout_time, total(wtaspret) AS prepare_time,
        total(wtasotet) AS other_time,
        sum(timed(wtascmn, wtascmet)) AS commit_of, sum(timed(wtasban, wtasbaet)) AS backout_of,
        sum(timed(wtasprn, wtaspret)) AS prepare_of, sum(timed(wtasotn, wtasotet)) AS other_of,
        list_sum([commit_cpu, backout_cpu, prepare_cpu, other_cpu]) AS cpu,
        list_sum([commit_time, backout_time, prepare_time, other_time]) AS elapsed
    FROM (
        SELECT
            *, coalesce(task_source, source) AS of_source,
            coalesce(task_record_offset, record_offset) AS task_record
        FROM inputs.wtas
    )
    LEFT JOIN owners USING (of_source, task_record)
    GROUP BY ALL
),
client_calls AS MATERIALIZED (
    SELECT * FROM queue_calls
    ANTI JOIN (
        SELECT DISTINCT system, qmgr, qcstchnm AS channel
        FROM inputs.qcst
        WHERE qcstchty_text <> 'Server-connection'
    ) USING (system, qmgr, channel)
    WHERE channel IS NOT NULL
),
calls AS MATERIALIZED (
    SELECT
        system, qmgr, start, seconds,
        unnest([
            {'verb': 'open', 'calls': open_n, 'cpu': open_cpu, 'elapsed': open_time, 'elapsed_of': open_of},
            {'verb': 'close', 'calls': close_n, 'cpu': close_cpu, 'elapsed': close_time, 'elapsed_of': close_of},
            {'verb': 'get', 'calls': get_n, 'cpu': get_cpu, 'elapsed': get_time, 'elapsed_of': get_of},
            {'verb': 'put', 'calls': put_n, 'cpu': put_cpu, 'elapsed': put_time, 'elapsed_of': put_of},
            {'verb': 'put1', 'calls': put1_n, 'cpu': put1_cpu, 'elapsed': put1_time, 'elapsed_of': put1_of},
            {'verb': 'inq', 'calls': inq_n, 'cpu': inq_cpu, 'elapsed': inq_time, 'elapsed_of': inq_of},
            {'verb': 'set', 'calls': set_n, 'cpu': set_cpu, 'elapsed': set_time, 'elapsed_of': set_of},
            {'verb': 'cb', 'calls': cb_n, 'cpu': cb_cpu, 'elapsed': cb_time, 'elapsed_of': cb_of}
        ], recursive := TRUE)
    FROM queue_calls
    UNION ALL
    SELECT
        system, qmgr, start, seconds,
        unnest([
            {'verb': 'commit', 'calls': commit_n, 'cpu': commit_cpu, 'elapsed': commit_time, 'elapsed_of': commit_of},
            {'verb': 'backout', 'calls': backout_n, 'cpu': backout_cpu, 'elapsed': backout_time, 'elapsed_of': backout_of},
            {'verb': 'prepare', 'calls': prepare_n, 'cpu': prepare_cpu, 'elapsed': prepare_time, 'elapsed_of': prepare_of},
            {'verb': 'other', 'calls': other_n, 'cpu': other_cpu, 'elapsed': other_time, 'elapsed_of': other_of}
        ], recursive := TRUE)
    FROM task_calls
)
