-- What views and reports share: macros that work on tables as they are and on those of sections alike.

-- The sum of doubles, the same to the last digit in whatever order they come: each is added as a whole number
-- of 2^-40, which holds times of the clock, and counts, exactly. A product of damaged counters is too large: it is left out.
CREATE OR REPLACE MACRO total(number) AS
    sum(TRY_CAST(number::DOUBLE * 1099511627776 AS HUGEINT)) / 1099511627776;

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

-- An address of 31 bits as it is written.
CREATE OR REPLACE MACRO hexadecimal(address) AS printf('%08X', address::BIGINT & 4294967295);

-- The release of an MQ version as a number: 903 is 9.3.
CREATE OR REPLACE MACRO release_of(mq_version) AS 100 * TRY_CAST(split_part(mq_version, '.', 1) AS INTEGER)
    + TRY_CAST(split_part(mq_version, '.', 2) AS INTEGER);

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

-- The name of a time, where something was counted and its time is not known.
CREATE OR REPLACE MACRO untimed(time_name, counted, took) AS CASE WHEN counted > 0 AND took IS NULL THEN time_name END;

-- Rows of class 3 with whose they are. Rows of a task and interval, in whatever sources they are, have the same
-- `of_source` and `task_record`: source and byte of the 116/1 record, or where that is not there their own.
CREATE OR REPLACE MACRO of_tasks(rows_of_tasks) AS TABLE
SELECT
    *, coalesce(task_source, source) AS of_source, coalesce(task_record_offset, record_offset) AS task_record
FROM query_table(rows_of_tasks);

-- Pages and commits of tasks: one row per interval.
CREATE OR REPLACE MACRO commits_of_tasks(tasks) AS TABLE
SELECT
    *, coalesce(task_source, source) AS of_source, coalesce(task_record_offset, record_offset) AS task_record,
    wtasgpo::BIGINT + wtasgpn AS pages, {'calls': wtascmn, 'cpu': wtascmct, 'elapsed': wtascmet} AS commit_call
FROM query_table(tasks);

-- Sums of API calls: what they took altogether, and a call. The latter is of calls that a time is known of. Of sums
-- that are added again, `known` is the first step, and `per_known` the second.
CREATE OR REPLACE MACRO per_call(took, calls) AS total(took) / nullif(sum(calls) FILTER (took IS NOT NULL), 0);
CREATE OR REPLACE MACRO known(took, calls) AS
    {'us': total(took), 'calls': sum(calls) FILTER (took IS NOT NULL)};
CREATE OR REPLACE MACRO per_known(known) AS total(known.us) / nullif(sum(known.calls), 0);
CREATE OR REPLACE MACRO call_sums(calls, elapsed, cpu) AS {
    'calls': sum(calls)::BIGINT, 'elapsed': total(elapsed), 'cpu': total(cpu),
    'call_elapsed': per_call(elapsed, calls), 'call_cpu': per_call(cpu, calls)
};

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

-- Where a row of accounting is over time, for charts: when it began, and its seconds. Records shorter than a minute
-- are put together by the minute that has their middle: there can be one for each transaction.
CREATE OR REPLACE MACRO begin_of_row(interval_start, interval_seconds) AS CASE
    WHEN interval_seconds < 60
    THEN time_bucket(INTERVAL 1 MINUTE, interval_start + to_microseconds((interval_seconds * 5e5)::BIGINT))
    ELSE date_trunc('second', interval_start + INTERVAL 500 MILLISECONDS)
END;
CREATE OR REPLACE MACRO seconds_of_row(interval_seconds) AS
    CASE WHEN interval_seconds <= 1e9 THEN greatest(60, round(interval_seconds)) END;

-- What calls of each verb did over time, of rows of queue_calls or task_calls.
CREATE OR REPLACE MACRO calls_by_verb(rows_of_calls) AS TABLE
SELECT
    system, qmgr, start, seconds, unnest(verbs) AS verb, unnest(verb_calls) AS calls, unnest(verb_cpu) AS cpu,
    unnest(verb_elapsed) AS elapsed, unnest(verb_elapsed_of) AS elapsed_of
FROM query_table(rows_of_calls);

-- Channels that are known to be others than those of clients.
CREATE OR REPLACE MACRO message_channels(channels) AS TABLE
SELECT DISTINCT system, qmgr, qcstchnm AS channel
FROM query_table(channels)
WHERE qcstchty_text <> 'Server-connection';

-- What calls were over time, by what they are of: an amount of rows of queue_calls or task_calls, in a unit.
CREATE OR REPLACE MACRO calls_over_time(rows_of_calls, of_what, measured, unit) AS TABLE
SELECT system, qmgr, of_what AS object, start, seconds, total(measured) / unit AS amount
FROM query_table(rows_of_calls)
GROUP BY ALL
HAVING amount IS NOT NULL;
