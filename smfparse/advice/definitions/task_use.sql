-- The tasks of a job in an interval, with their latches and their calls on queues. A class 3 record is counted in the
-- statistics interval that contains the middle of the record.
WITH
parts AS (
    SELECT
        input_no, source, record_no, interval_seconds AS own_seconds, has_ended,
        commits, backouts, log_forces AS forces, log_force_wait AS force_us,
        greatest(log_force_wait, log_write_wait) AS log_us, log_bytes, suspended AS suspended_us,
        other_calls, other_cpu AS other_cpu_us, db2_requests, db2_elapsed AS db2_us,
        db2_elapsed + cf_single_elapsed + cf_multiple_elapsed AS outside_us,
        page_set_0_logs AS zero_writes, page_set_0_log_wait AS zero_us, buffer_latch_wait AS pool_latch_us,
        calls, elapsed AS elapsed_us, cpu AS cpu_us
    FROM task_figures
    UNION ALL BY NAME
    SELECT
        input_no, source, record_no, calls, elapsed AS elapsed_us, cpu AS cpu_us,
        persistent_got::DOUBLE + persistent_put AS persistent, messages_put::DOUBLE + messages_got AS messages,
        gets AS get_calls, puts::DOUBLE + put1s AS put_calls, time_on_queue_average_per AS got,
        time_on_queue_average_amount AS queue_us
    FROM queue_use_figures
),
placed AS (FROM task_intervals('inputs.wtid', 'inputs.qmst')),
latches AS (
    SELECT
        placed.system, placed.qmgr, job, start, seconds,
        total(waited) AS latch_us,
        total(CASE WHEN latch = 11 THEN waited END) AS latch_11_us,
        total(CASE WHEN latch = 12 THEN waited END) AS latch_12_us,
        total(CASE WHEN latch = 16 THEN waited END) AS latch_16_us,
        total(CASE WHEN latch = 19 THEN waited END) AS latch_19_us,
        total(CASE WHEN latch = 21 THEN waited END) AS latch_21_us,
        total(CASE WHEN latch = 23 THEN waited END) AS latch_23_us,
        total(CASE WHEN latch = 24 THEN waited END) AS latch_24_us,
        total(CASE WHEN latch = 30 THEN waited END) AS latch_30_us,
        total(CASE WHEN latch = 31 THEN waited END) AS latch_31_us,
        total(CASE WHEN latch = 32 THEN waited END) AS latch_32_us
    FROM latch_figures
    JOIN placed USING (input_no, source, record_no)
    GROUP BY placed.system, placed.qmgr, job, start, seconds
),
jobs AS (
    SELECT
        system, qmgr, '' AS object, job, start, seconds, any_value(utc_offset) AS utc_offset,
        max(mq_version) AS mq_version,
        total(own_seconds) AS task_seconds, count_if(has_ended AND is_channel)::DOUBLE AS client_ends,
        sum(commits)::DOUBLE AS commits, sum(backouts)::DOUBLE AS backouts,
        sum(forces)::DOUBLE AS forces, total(force_us) AS force_us, total(log_us) AS log_us,
        sum(log_bytes)::DOUBLE AS log_bytes,
        total(suspended_us) AS suspended_us,
        sum(other_calls)::DOUBLE AS other_calls, total(other_cpu_us) AS other_cpu_us,
        sum(db2_requests)::DOUBLE AS db2_requests, total(db2_us) AS db2_us, total(outside_us) AS outside_us,
        sum(zero_writes)::DOUBLE AS zero_writes, total(zero_us) AS zero_us, total(pool_latch_us) AS pool_latch_us,
        total(calls) AS calls, total(elapsed_us) AS elapsed_us, total(cpu_us) AS cpu_us,
        total(persistent) AS persistent, total(messages) AS messages,
        coalesce(sum(get_calls), 0)::DOUBLE AS get_calls, coalesce(sum(put_calls), 0)::DOUBLE AS put_calls,
        coalesce(sum(got), 0)::DOUBLE AS got, coalesce(total(queue_us), 0) AS queue_us,
        total(queue_us) / nullif(sum(got), 0) AS wait,
        -- Persistent messages, but no unit of work ended, and few log writes were forced, so syncpoint was used.
        coalesce(sum(commits) + sum(backouts), 0) = 0 AND total(persistent) > 0
            AND 10 * coalesce(sum(forces), 0) < total(persistent) AS is_open,
        bool_or(is_transaction) AS is_transaction, bool_or(is_channel) AS is_channel
    FROM parts
    JOIN placed USING (input_no, source, record_no)
    GROUP BY system, qmgr, job, start, seconds
),
intervals AS (
    SELECT system, qmgr, start, seconds, sum(log_bytes) AS all_log_bytes FROM jobs GROUP BY ALL
),
usual AS (SELECT system, qmgr, job, quantile_cont(wait, 0.25) AS usual_wait FROM jobs GROUP BY ALL),
neighbors AS (
    SELECT
        system, qmgr, job, start, seconds, lag(is_open) OVER its OR lead(is_open) OVER its AS beside_open
    FROM jobs
    SEMI JOIN (SELECT system, qmgr, job FROM jobs WHERE is_open) AS open_ones USING (system, qmgr, job)
    WINDOW its AS (PARTITION BY system, qmgr, job ORDER BY start)
)
SELECT
    jobs.* EXCLUDE (wait), coalesce(COLUMNS('^latch_'), 0) AS '\0', all_log_bytes, usual_wait,
    coalesce(beside_open, FALSE) AS goes_on
FROM jobs
LEFT JOIN latches USING (system, qmgr, job, start, seconds)
LEFT JOIN intervals USING (system, qmgr, start, seconds)
LEFT JOIN usual USING (system, qmgr, job)
LEFT JOIN neighbors USING (system, qmgr, job, start, seconds)
