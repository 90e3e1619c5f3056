-- What several lines are made of, each worked out once. CPU in microseconds.
WITH
owners AS MATERIALIZED (SELECT * FROM owners('inputs.wtid')),
-- What calls about queues did: one row per user, queue and minute.
queue_calls AS MATERIALIZED (
    SELECT
        system, qmgr, start, seconds, queue, is_shared, job, "transaction", channel, puts, gets, got_bytes, cpu,
        open_n, close_n, get_n, put_n, put1_n, inq_n, set_n, cb_n, open_cpu, close_cpu, get_cpu, put_cpu, put1_cpu,
        inq_cpu, set_cpu, cb_cpu
    FROM queue_calls('inputs.wqst', 'owners')
),
task_calls AS MATERIALIZED (
    SELECT
        system, qmgr, start, seconds, job, "transaction", cpu,
        commit_n, backout_n, prepare_n, sub_n, subrq_n, ctl_n, stat_n, topic_n, other_n, commit_cpu, backout_cpu,
        prepare_cpu, sub_cpu, subrq_cpu, ctl_cpu, stat_cpu, topic_cpu, other_cpu
    FROM task_calls('inputs.wtas', 'owners')
),
-- CPU and calls of API verbs.
verbs AS MATERIALIZED (
    SELECT system, qmgr, start, seconds, verb, sum(calls) AS calls, total(cpu) AS cpu
    FROM (
        SELECT system, qmgr, start, seconds, unnest([
            {'verb': 'open', 'calls': open_n, 'cpu': open_cpu},
            {'verb': 'close', 'calls': close_n, 'cpu': close_cpu},
            {'verb': 'get', 'calls': get_n, 'cpu': get_cpu},
            {'verb': 'put', 'calls': put_n, 'cpu': put_cpu},
            {'verb': 'put1', 'calls': put1_n, 'cpu': put1_cpu},
            {'verb': 'inq', 'calls': inq_n, 'cpu': inq_cpu},
            {'verb': 'set', 'calls': set_n, 'cpu': set_cpu},
            {'verb': 'cb', 'calls': cb_n, 'cpu': cb_cpu}
        ], recursive := TRUE)
        FROM (
            SELECT system, qmgr, start, seconds, sum(COLUMNS('_n$')), total(COLUMNS('(.*_cpu)$')) AS '\1'
            FROM queue_calls
            GROUP BY ALL
        )
        UNION ALL
        SELECT system, qmgr, start, seconds, unnest([
            {'verb': 'commit', 'calls': commit_n, 'cpu': commit_cpu},
            {'verb': 'backout', 'calls': backout_n, 'cpu': backout_cpu},
            {'verb': 'prepare', 'calls': prepare_n, 'cpu': prepare_cpu},
            {'verb': 'sub', 'calls': sub_n, 'cpu': sub_cpu},
            {'verb': 'subrq', 'calls': subrq_n, 'cpu': subrq_cpu},
            {'verb': 'ctl', 'calls': ctl_n, 'cpu': ctl_cpu},
            {'verb': 'stat', 'calls': stat_n, 'cpu': stat_cpu},
            {'verb': 'topic', 'calls': topic_n, 'cpu': topic_cpu},
            {'verb': 'other', 'calls': other_n, 'cpu': other_cpu}
        ], recursive := TRUE)
        FROM (
            SELECT system, qmgr, start, seconds, sum(COLUMNS('_n$')), total(COLUMNS('(.*_cpu)$')) AS '\1'
            FROM task_calls
            GROUP BY ALL
        )
    )
    WHERE calls > 0 OR cpu > 0
    GROUP BY ALL
),
-- CPU of all calls: of those about queues, and of the others.
cpu_of_jobs AS (
    SELECT system, qmgr, job, "transaction", start, seconds, cpu FROM queue_calls
    UNION ALL
    SELECT system, qmgr, job, "transaction", start, seconds, cpu FROM task_calls
),
message_channels AS (FROM message_channels('inputs.qcst')),
client_calls AS (
    SELECT * FROM queue_calls
    ANTI JOIN message_channels USING (system, qmgr, channel)
    WHERE channel IS NOT NULL
)
