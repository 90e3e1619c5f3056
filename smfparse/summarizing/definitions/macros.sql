-- The minute, UTC, that has the middle of an interval.
CREATE OR REPLACE MACRO middle_minute(start, seconds) AS
    time_bucket(INTERVAL 1 MINUTE, start + to_microseconds((seconds * 5e5)::BIGINT));

-- CPU and calls of API verbs: one row per system, queue manager, minute and verb; microseconds.
CREATE OR REPLACE MACRO verbs_by_minute(queues, tasks) AS TABLE
WITH
queue_calls AS (
    SELECT
        system, qmgr, middle_minute(interval_start, interval_seconds) AS start,
        sum(openn) AS open_n, sum(closen) AS close_n, sum(getn) AS get_n, sum(putn) AS put_n,
        sum(put1n) AS put1_n, sum(inqn) AS inq_n, sum(setn) AS set_n, sum(cbn) AS cb_n,
        total(openct) AS open_cpu, total(closect) AS close_cpu, total(getct) AS get_cpu,
        total(putct) AS put_cpu, total(put1ct) AS put1_cpu, total(inqct) AS inq_cpu,
        total(setct) AS set_cpu, total(cbct) AS cb_cpu
    FROM query_table(queues)
    GROUP BY ALL
),
task_calls AS (
    SELECT
        system, qmgr, middle_minute(interval_start, interval_seconds) AS start,
        sum(wtascmn) AS commit_n, sum(wtasban) AS backout_n, sum(wtasprn) AS prepare_n,
        sum(wtasotn) AS other_n,
        total(wtascmct) AS commit_cpu, total(wtasbact) AS backout_cpu, total(wtasprct) AS prepare_cpu,
        total(wtasotct) AS other_cpu
    FROM query_table(tasks)
    GROUP BY ALL
),
verbs AS (
    SELECT
        system, qmgr, start,
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
        system, qmgr, start,
        unnest([
            {'verb': 'commit', 'calls': commit_n, 'cpu': commit_cpu},
            {'verb': 'backout', 'calls': backout_n, 'cpu': backout_cpu},
            {'verb': 'prepare', 'calls': prepare_n, 'cpu': prepare_cpu},
            {'verb': 'other', 'calls': other_n, 'cpu': other_cpu}
        ]) AS call
    FROM task_calls
)
SELECT system, qmgr, start, call.verb AS verb, call.calls AS calls, call.cpu AS cpu
FROM verbs
WHERE call.calls > 0 OR call.cpu > 0;

-- CPU of the calls about queues: one row per task record, queue and minute; microseconds.
CREATE OR REPLACE MACRO queue_cpu(queues) AS TABLE
SELECT
    input_no, source, coalesce(task_record_no, record_no) AS task_record, system, qmgr,
    objname, basename, middle_minute(interval_start, interval_seconds) AS start,
    total(openct + closect + getct + putct + put1ct + inqct + setct + coalesce(cbct, 0)) AS cpu
FROM query_table(queues)
GROUP BY ALL;

-- CPU of the calls that are about no queue: one row per task record; microseconds.
CREATE OR REPLACE MACRO task_cpu(tasks) AS TABLE
SELECT
    input_no, source, record_no AS task_record, system, qmgr,
    middle_minute(interval_start, interval_seconds) AS start,
    total(
        wtascmct + wtasbact + coalesce(wtasprct, 0) + coalesce(wtassuct, 0) + coalesce(wtassqct, 0)
        + coalesce(wtasctct, 0) + coalesce(wtasstct, 0) + coalesce(wtastpct, 0) + wtasotct
    ) AS cpu
FROM query_table(tasks)
GROUP BY ALL;
