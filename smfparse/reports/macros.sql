-- A moment in UTC as local time of the system.
CREATE OR REPLACE MACRO local_time(moment, utc_offset) AS
    moment AT TIME ZONE 'UTC' + to_seconds(utc_offset);

-- A sum of doubles of any size that is the same for any order of rows. `total` is faster.
CREATE OR REPLACE MACRO ordered_sum(number) AS list_sum(list(number ORDER BY number));

-- A grouping value of rows; NULL if the option `by` does not contain its name.
CREATE OR REPLACE MACRO asked_for(name, value) AS
    CASE WHEN list_contains(getvariable('by'), name) THEN value END;

-- The grouping values of calls; NULL for names that are not in the option `by`.
CREATE OR REPLACE MACRO users_asked_for(
    system, qmgr, connection_type, job, userid, program, channel, queue, size, counted_at
) AS {
    'system': asked_for('system', system), 'qmgr': asked_for('qmgr', qmgr),
    'connection_type': asked_for('connection_type', connection_type), 'job': asked_for('job', job),
    'user': asked_for('user', userid), 'transaction': asked_for('transaction', program),
    'channel': asked_for('channel', channel), 'queue': asked_for('queue', queue), 'size': asked_for('size', size),
    'hour': asked_for('hour', date_trunc('hour', counted_at))
};

-- The grouping values of SMF records; NULL for names that are not in the option `by`.
CREATE OR REPLACE MACRO volume_asked_for(owner, job) AS {
    'system': asked_for('system', owner.system), 'qmgr': asked_for('qmgr', owner.qmgr), 'job': asked_for('job', job)
};

-- The size band of a number of bytes: its upper end in KB, a power of 2.
CREATE OR REPLACE MACRO size_band(bytes) AS CASE
    WHEN bytes IS NOT NULL
    THEN (2 ** greatest(ceil(log2(greatest(bytes, 1) / 1024)), 0))::BIGINT
END;

-- The size band of the mean size of the messages that a call put or got.
CREATE OR REPLACE MACRO size_of(verb, bytes_put, puts, bytes_got, gets) AS size_band(CASE
    WHEN verb IN ('put', 'put1') THEN bytes_put / nullif(puts, 0)
    WHEN verb = 'get' THEN bytes_got / nullif(gets, 0)
END);

-- The transaction of each task and interval; no rows unless the option `by` contains it, so that nothing is read.
CREATE OR REPLACE MACRO transactions(identities) AS TABLE
SELECT of_source, task_record, coalesce("transaction", psb) AS "transaction" FROM owners(identities)
WHERE list_contains(getvariable('by'), 'transaction');

-- A figure of a whole task; NULL if queues are selected, because calls on other queues are then missing.
CREATE OR REPLACE MACRO of_whole_task(value) AS
    CASE WHEN NOT getvariable('of_queues') THEN value END;

-- Coupling facility requests of calls on queues and, unless queues are selected, of other calls.
CREATE OR REPLACE MACRO cf_requests(of_queues, of_other_calls) AS TABLE
SELECT * FROM of_tasks(of_queues)
UNION ALL BY NAME
SELECT * EXCLUDE (block_no), phase AS verb FROM of_tasks(of_other_calls) WHERE NOT getvariable('of_queues');

-- The name of a coupling facility request, from its number in CFSTAT.
CREATE OR REPLACE MACRO cf_request(request) AS coalesce([
    'Lock', 'Unlock', 'Write list controls', 'Signal XCF', 'Signal CF', 'Read', 'Write',
    'Start monitoring', 'Stop monitoring', 'Read list', 'New', 'Move', 'MoveEnt', 'Delete'
][request + 1], 'type ' || request);

-- Lines of channel initiator tasks, and of all tasks of a section ('Summ'). `tasks` is the name of a relation with a
-- row per task of one kind, and a row without `block_no` for all tasks.
CREATE OR REPLACE MACRO task_lines(kind, tasks) AS TABLE
SELECT
    section, CASE WHEN block_no IS NULL THEN 'summary' ELSE 'task' END AS line, block_no - 1 AS number,
    coalesce(number::VARCHAR, 'Summ') AS task, kind AS type, requests, busy, cpu_seconds, cpu_busy,
    CASE WHEN requests = 0 THEN 0 ELSE qctcptm_average END AS cpu_average, cpu_average AS cpu_tenths,
    CASE WHEN requests = 0 THEN 0 ELSE qcteltm_average END AS elapsed_average,
    COLUMNS(lambda name: name IN ('waiting_seconds', 'channels', 'longest', 'longest_at'))
FROM query_table(tasks);

-- Seconds as text: a whole number; below 1 second, two digits.
CREATE OR REPLACE MACRO seconds_text(seconds) AS
    CASE WHEN seconds < 1 THEN format('{:.2g}', seconds) ELSE format('{:.0f}', seconds) END;

-- Whether class 3 was on in a statistics interval. `earliest` and `latest`: end of the first and last task interval.
-- Tasks write their records up to a second after the statistics interval.
CREATE OR REPLACE MACRO during_class_3(started, ended, earliest, latest) AS
    ended >= earliest - INTERVAL 1 SECOND AND started <= latest - INTERVAL 1 SECOND;

-- The queue-sharing group of a queue manager, from the channel initiator statistics (QCCT).
CREATE OR REPLACE MACRO told_groups(channel_initiators) AS TABLE
SELECT key.*, queue_sharing_group AS told_qsg FROM chinit_by(channel_initiators, {'system': system, 'qmgr': qmgr});

-- The queue-sharing group of a row: from its record, otherwise from `told_groups`, otherwise from the option `qsg`.
CREATE OR REPLACE MACRO group_of(qsg, told_qsg) AS
    coalesce(qsg, told_qsg, nullif(getvariable('qsg'), ''));

-- Use of queues in class 3: one row per user and queue of a queue manager. A user is a channel or, for tasks that are
-- not of a channel, a job. `place` is the scope in which a queue name is unique: the queue-sharing group of a shared
-- queue, otherwise the queue manager. The group is in the record (MQ 10.0 or newer), otherwise it comes from
-- `group_of`. If the group is unknown, `place` of a shared queue is the queue manager. `apart`: whether to group by
-- transaction too; otherwise, `transaction` is NULL.
CREATE OR REPLACE MACRO queue_uses(queues, identities, channel_initiators, apart) AS TABLE
WITH
-- A dynamic queue and its model: the creator opens the model; a server that replies opens the dynamic queue itself.
dynamic AS (
    SELECT DISTINCT basename AS made, queue_of(objname, basename) AS model
    FROM query_table(queues)
    WHERE model <> basename
)
SELECT
    section, q.system, q.qmgr, coalesce(model, q.queue) AS queue,
    nullif(cfstrucname, '') IS NOT NULL AS is_shared,
    group_of(qsg, told_qsg) AS known_qsg,
    is_shared AND known_qsg IS NOT NULL AS is_in_group,
    CASE WHEN is_in_group THEN known_qsg ELSE q.system || '/' || q.qmgr END AS place,
    coalesce(nullif(channel, ''), job) AS who, nullif(channel, '') AS channel, job, connection_type,
    CASE WHEN apart THEN coalesce("transaction", psb) END AS "transaction",
    any_value(nullif(cfstrucname, '')) AS structure,
    string_agg(DISTINCT objname, ', ' ORDER BY objname) FILTER (objname <> basename) AS opened_as,
    count(DISTINCT token) AS tasks,
    sum(openn)::BIGINT AS opens,
    sum(validput)::BIGINT AS puts,
    sum(coalesce(getdval, validget))::BIGINT AS gets,
    sum(greatest(validget::BIGINT - getdval, 0)) FILTER (getdval IS NOT NULL)::BIGINT AS browses,
    sum(inqn)::BIGINT AS inqs, sum(setn)::BIGINT AS sets,
    sum(greatest(putn::BIGINT + put1n - validput, 0))::BIGINT AS failed_puts,
    sum(geterr)::BIGINT AS failed_gets,
    sum(gets)::BIGINT AS gets_by_id,
    sum(putpmsg::BIGINT + put1pmsg)::BIGINT AS persistent_puts,
    sum(putpwg::BIGINT + put1pwg)::BIGINT AS to_getter,
    sum(putbytes)::DOUBLE AS put_bytes, sum(getbytes)::DOUBLE AS get_bytes,
    total(putct + put1ct) AS put_cpu, total(getct) AS get_cpu,
    total(all_cpu) AS cpu, total(all_elapsed) AS elapsed,
    sum(validget)::BIGINT AS got, total(totlatnt) AS time_on_queue,
    sum(timed(validget, totlatnt))::BIGINT AS timed_gets,
    max(maxqdpth) AS deepest,
    sum(putdsq)::BIGINT AS put_direct, sum(putigq::BIGINT + put1igq)::BIGINT AS put_by_agent,
    sum(opencf0)::BIGINT AS opens_without,
    list(task_span(interval_start, interval_end, q.task_started_tod)) FILTER (interval_start <= interval_end) AS spans
FROM queue_use_facts(queues) AS q
LEFT JOIN owners(identities) USING (of_source, task_record)
LEFT JOIN told_groups(channel_initiators) AS g ON g.system = q.system AND g.qmgr = q.qmgr
LEFT JOIN dynamic ON dynamic.made = q.basename
GROUP BY ALL;

-- Whether the marks of a section show class 3 intervals that are longer than the section. If so, class 3 counts cannot
-- be compared with statistics.
CREATE OR REPLACE MACRO has_longer_tasks(marks) AS coalesce(contains(marks, 'longer: up to'), FALSE);

-- The start of the first statistics of each queue manager, microseconds.
CREATE OR REPLACE MACRO first_statistics(statistics) AS TABLE
SELECT system, qmgr, epoch_us(min(interval_start)) AS known_since FROM query_table(statistics) GROUP BY ALL;

-- The part of a task_span that counts: a row that is no interval of accounting can begin hours before the first statistics.
CREATE OR REPLACE MACRO known_part(span, known_since) AS {
    'began': CASE
        WHEN NOT span.is_whole AND known_since < span.ended THEN greatest(span.began, known_since) ELSE span.began
    END,
    'ended': span.ended, 'is_whole': span.is_whole
};

-- The microseconds by which the clock of each system of a section is ahead of the one with the smallest UTC offset. A
-- section is a time of the clock, so the times of its systems are compared by their clocks.
CREATE OR REPLACE MACRO clocks_ahead(rows_of_systems) AS TABLE
SELECT
    section, system,
    1000000::BIGINT * coalesce(min(utc_offset) - min(min(utc_offset)) OVER (PARTITION BY section), 0) AS ahead
FROM query_table(rows_of_systems)
GROUP BY section, system;

-- The seconds that rows of class 3 cover (see covered_time), one row per section.
CREATE OR REPLACE MACRO covered_seconds(tasks, statistics) AS TABLE
WITH
-- The rows of the tasks and queues of an interval have one span, and are read once.
distinct_tasks AS MATERIALIZED (
    SELECT DISTINCT
        section, system, qmgr, utc_offset, task_span(interval_start, interval_end, task_started_tod) AS span
    FROM query_table(tasks)
),
spans_of_tasks AS (
    SELECT section AS alike, part.began + ahead AS began, part.ended + ahead AS ended, part.is_whole AS is_whole
    FROM (
        SELECT section, system, known_part(span, known_since) AS part
        FROM distinct_tasks
        LEFT JOIN first_statistics(statistics) USING (system, qmgr)
    )
    JOIN clocks_ahead('distinct_tasks') USING (section, system)
),
spans_of_statistics AS (
    SELECT section AS alike, epoch_us(interval_start) + ahead AS began, epoch_us(interval_end) + ahead AS ended
    FROM query_table(statistics)
    JOIN clocks_ahead('distinct_tasks') USING (section, system)
)
SELECT
    alike AS section, seconds, make_timestamp(began) AS first_start, make_timestamp(ended) AS last_end
FROM covered_time('spans_of_tasks', 'spans_of_statistics');

-- The seconds that the queue statistics of all queues cover, one row per section. An inactive queue has records too.
CREATE OR REPLACE MACRO queue_time(queues) AS TABLE
SELECT
    section, seconds_covered(list(DISTINCT began), list(DISTINCT ended)) AS seconds,
    make_timestamp(min(began)) AS first_start, make_timestamp(max(ended)) AS last_end
FROM (
    SELECT section, epoch_us(interval_start) + ahead AS began, epoch_us(interval_end) + ahead AS ended
    FROM query_table(queues)
    JOIN clocks_ahead(queues) USING (section, system)
)
WHERE began <= ended
GROUP BY section;

-- The rows of queue_uses, with `spans` limited to the time from the first statistics on.
CREATE OR REPLACE MACRO timed_uses(queues, identities, channel_initiators, statistics) AS TABLE
SELECT u.* REPLACE (list_transform(spans, lambda each: known_part(each, known_since)) AS spans)
FROM queue_uses(queues, identities, channel_initiators, FALSE) AS u
LEFT JOIN first_statistics(statistics) USING (system, qmgr);

-- The divisor of a rate: the seconds that all rows of the section cover, or, if greater, the seconds of `spans`,
-- because the intervals of class 3 rows can be longer than the section.
CREATE OR REPLACE MACRO divisor(seconds, spans) AS nullif(greatest(
    seconds,
    seconds_covered(
        list_transform(spans, lambda each: each.began), list_transform(spans, lambda each: each.ended)
    )
), 0);

-- The name of a cipher specification from its number in the TLS protocol; otherwise the number in hex; NULL: no cipher.
CREATE OR REPLACE MACRO cipher_name(number) AS CASE
    WHEN number > 0 THEN coalesce(
        map {
            47: 'TLS_RSA_WITH_AES_128_CBC_SHA', 53: 'TLS_RSA_WITH_AES_256_CBC_SHA',
            10: 'TLS_RSA_WITH_3DES_EDE_CBC_SHA',
            60: 'TLS_RSA_WITH_AES_128_CBC_SHA256', 61: 'TLS_RSA_WITH_AES_256_CBC_SHA256',
            156: 'TLS_RSA_WITH_AES_128_GCM_SHA256', 157: 'TLS_RSA_WITH_AES_256_GCM_SHA384',
            4865: 'TLS_AES_128_GCM_SHA256', 4866: 'TLS_AES_256_GCM_SHA384',
            4867: 'TLS_CHACHA20_POLY1305_SHA256',
            49187: 'TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256',
            49188: 'TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA384',
            49191: 'TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256',
            49192: 'TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA384',
            49195: 'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256',
            49196: 'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384',
            49199: 'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
            49200: 'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384'
        }[number],
        format('{:04X}', number)
    )
END;

-- The 50th, 90th and 99th percentile of a value across rows, for at least 2, 10 and 100 rows: fewer percentiles are
-- returned for fewer rows.
CREATE OR REPLACE MACRO percentiles(value) AS list_slice(
    quantile_cont(value, [0.5, 0.9, 0.99]), 1,
    CASE WHEN count(value) >= 100 THEN 3 WHEN count(value) >= 10 THEN 2 WHEN count(value) >= 2 THEN 1 ELSE 0 END
);

-- A product version as text, from eight digits: '09030021' is 9.3.0.21.
CREATE OR REPLACE MACRO product_version(digits) AS CASE
    WHEN regexp_full_match(digits, '[0-9]{8}')
    THEN array_to_string(list_transform([1, 3, 5, 7], lambda digit: digits[digit:digit + 1]::INTEGER), '.')
    ELSE nullif(digits, '')
END;
