-- What several panels of accounting are made of. The page spreads each row over the intervals of the queue manager.
WITH
owners AS MATERIALIZED (SELECT * FROM owners('inputs.wtid')),
queue_calls AS MATERIALIZED (
    SELECT * REPLACE (coalesce(job, '?') AS job) FROM queue_calls('inputs.wqst', 'owners')
),
task_calls AS MATERIALIZED (
    SELECT * REPLACE (coalesce(job, '?') AS job) FROM task_calls('inputs.wtas', 'owners')
),
client_calls AS MATERIALIZED (
    SELECT * FROM queue_calls
    ANTI JOIN message_channels('inputs.qcst') USING (system, qmgr, channel)
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
            {'verb': 'sub', 'calls': sub_n, 'cpu': sub_cpu, 'elapsed': sub_time, 'elapsed_of': sub_of},
            {'verb': 'subrq', 'calls': subrq_n, 'cpu': subrq_cpu, 'elapsed': subrq_time, 'elapsed_of': subrq_of},
            {'verb': 'ctl', 'calls': ctl_n, 'cpu': ctl_cpu, 'elapsed': ctl_time, 'elapsed_of': ctl_of},
            {'verb': 'stat', 'calls': stat_n, 'cpu': stat_cpu, 'elapsed': stat_time, 'elapsed_of': stat_of},
            {'verb': 'topic', 'calls': topic_n, 'cpu': topic_cpu, 'elapsed': topic_time, 'elapsed_of': topic_of},
            {'verb': 'other', 'calls': other_n, 'cpu': other_cpu, 'elapsed': other_time, 'elapsed_of': other_of}
        ], recursive := TRUE)
    FROM task_calls
)
