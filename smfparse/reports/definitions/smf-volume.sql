-- SMF-VOLUME: the volume of SMF data by record type, its projection to other intervals, and the CPU cost of class 3.
-- `line` is the kind of line of a row. The planner smf supplies the rows of class 3 and 5 at other intervals, which are
-- the requested intervals or, by default, usual ones.
WITH
cost(call_us, record_us, record_us_at_worst) AS (VALUES (0.5e0, 4e0, 36e0)),
usual_settings(usual) AS (VALUES ([60, 300, 900, 1800])),
jobs AS (
    SELECT input_no, source, record_no, of_source, task_record, job
    FROM identity_facts('sectioned.wtid')
    WHERE block_no = 1
    UNION ALL BY NAME
    SELECT input_no, source, record_no, job FROM connection_facts('sectioned.qmac') WHERE block_no = 1
),
counted AS (
    SELECT input_no, source, record_no, min(token) AS token, sum(calls)::BIGINT AS calls
    FROM (
        SELECT input_no, source, record_no, token, all_calls AS calls FROM queue_use_facts('sectioned.wqst')
        UNION ALL
        SELECT input_no, source, record_no, token, all_calls FROM task_facts('sectioned.wtas')
    )
    GROUP BY ALL
),
-- For comparisons, times are converted to UTC: when clocks change, an hour of local time is repeated or skipped.
offsets AS (
    SELECT system, max(utc_offset) AS usual_offset FROM sectioned.record GROUP BY system
),
taken AS MATERIALIZED (
    SELECT
        section, {'system': system, 'qmgr': qmgr} AS owner, type, subtype, length AS bytes,
        to_seconds(coalesce(utc_offset, usual_offset, 0)) AS ahead, smf_time - ahead AS moment,
        counted_at - ahead AS counted,
        interval_start, interval_end,
        CASE WHEN interval_seconds > 0 AND interval_seconds <= 1e9 THEN interval_seconds END
            AS interval_seconds,
        job, token, calls, coalesce(ended, FALSE) AS ended,
        date_trunc('hour', counted_at) AS hour,
        CASE
            WHEN type = 115 THEN 'statistics'
            WHEN type = 116 AND subtype = 0 THEN 'class 1'
            WHEN type = 116 AND subtype IN (1, 2) AND short_lived THEN 'class 3 short-lived'
            WHEN type = 116 AND subtype IN (1, 2) THEN 'class 3 long-running'
            WHEN type = 116 AND subtype = 10 THEN 'class 4'
            ELSE 'others'
        END AS kind
    FROM sectioned.record
    LEFT JOIN offsets USING (system)
    LEFT JOIN jobs USING (input_no, source, record_no)
    LEFT JOIN counted USING (input_no, source, record_no)
    LEFT JOIN lives_of_tasks('sectioned.wtas') USING (of_source, task_record)
),
-- Records from which the interval length of a queue manager can be computed.
spaced AS (
    SELECT
        {'section': section, 'owner': owner, 'kind': kind} AS alike,
        interval_seconds AS seconds,
        (epoch_us(interval_start) - epoch_us(lag(interval_end) OVER (
            PARTITION BY section, owner, type, subtype, token
            ORDER BY interval_start, interval_end
        ))) / 1e6 AS apart
    FROM taken
    WHERE kind IN ('statistics', 'class 4')
        OR (kind = 'class 3 long-running' AND subtype = 1 AND NOT ended)
),
intervals AS (
    SELECT
        alike.section, alike.owner,
        any_value(typical) FILTER (alike.kind = 'statistics') AS statistics_interval,
        coalesce(
            any_value(typical) FILTER (alike.kind = 'class 3 long-running'),
            any_value(typical) FILTER (alike.kind = 'class 4')
        ) AS accounting_interval
    FROM usual_intervals('spaced')
    GROUP BY ALL
),
-- The start of the interval of each record. An interval that began before the trace counts with the usual length. The
-- records 115/5 to 7 contain no interval, but follow records that do. The first record of MQ 7 contains no interval,
-- and counts with the usual length.
timed AS (
    SELECT
        taken.*, statistics_interval,
        coalesce(
            interval_seconds,
            CASE WHEN kind = 'statistics' THEN last_value(interval_seconds IGNORE NULLS) OVER (
                PARTITION BY section, owner, kind
                ORDER BY moment, interval_seconds
            ) END
        ) AS lasted,
        CASE kind
            WHEN 'class 3 long-running' THEN 'ACCTIME'
            WHEN 'class 4' THEN 'ACCTIME'
            WHEN 'statistics' THEN 'STATIME'
        END AS setting,
        CASE setting
            WHEN 'ACCTIME' THEN accounting_interval WHEN 'STATIME' THEN statistics_interval
        END AS present_interval,
        moment - to_microseconds((1e6 * least(lasted, present_interval))::BIGINT) AS began
    FROM taken
    LEFT JOIN intervals USING (section, owner)
),
-- The time that the records of a section cover. Records that count at the middle of their interval cover this interval.
-- Statistics of MQ 7 and 115/5 to 7 count when they are written, half an interval later than other records of the same
-- time, so they cover the time of other statistics. Types 2 and 3 are ignored: they are written by the SMF dump
-- program, which may run a day later.
spans AS (
    SELECT
        section, owner,
        least(min(moment) FILTER (is_timed), coalesce(
            min(began) FILTER (setting = 'STATIME' AND counted < moment),
            min(began) FILTER (setting = 'ACCTIME'),
            min(began) FILTER (is_timed AND setting = 'STATIME')
        )) AS first,
        greatest(max(counted) FILTER (is_timed), coalesce(
            max(moment) FILTER (setting = 'STATIME' AND counted < moment),
            max(moment) FILTER (setting = 'ACCTIME'),
            max(moment) FILTER (is_timed)
        )) AS last
    FROM (SELECT *, type NOT IN (2, 3) AND NOT (type = 115 AND subtype IN (5, 6, 7)) AS is_timed FROM timed)
    GROUP BY ALL
),
-- Records without a queue manager cover the time of all records of their system.
covered AS (
    SELECT
        section, owner,
        CASE WHEN owner.qmgr IS NULL THEN min(first) OVER alike ELSE first END AS first,
        CASE WHEN owner.qmgr IS NULL THEN max(last) OVER alike ELSE last END AS last
    FROM spans
    WINDOW alike AS (PARTITION BY section, owner.system)
),
rated AS MATERIALIZED (
    SELECT
        section, volume_asked_for(owner, job) AS whose, asked_for('hour', hour) AS hour, (owner, token) AS task,
        type, subtype, kind, bytes, calls, interval_seconds, setting, present_interval,
        CASE setting
            WHEN 'ACCTIME' THEN getvariable('acctime') WHEN 'STATIME' THEN getvariable('statime')
        END::DOUBLE AS asked,
        CASE asked
            WHEN -1 THEN coalesce(getvariable('statime')::DOUBLE, statistics_interval)
            ELSE asked
        END AS asked_interval,
        -- The short interval at a restart is written for any length of intervals.
        CASE
            WHEN asked IS NULL THEN 1
            WHEN lasted < present_interval / 2 AND kind <> 'class 3 long-running'
            THEN greatest(1, lasted / asked_interval)
            ELSE present_interval / asked_interval
        END AS times,
        -- An interval of accounting can be longer than what the section covers.
        greatest(nullif(epoch(last - first), 0), CASE setting WHEN 'ACCTIME' THEN present_interval END) AS seconds,
        epoch(least(last, hour - ahead + INTERVAL 1 HOUR) - greatest(first, hour - ahead)) AS seconds_in_hour,
        CASE
            WHEN NOT list_contains(getvariable('by'), 'hour') THEN seconds
            -- The SMF time of the last records of an hour can be in the next hour.
            WHEN seconds_in_hour >= 1 THEN seconds_in_hour
        END AS seconds_asked_for
    FROM timed
    JOIN covered USING (section, owner)
),
-- Records are summed by the columns that the lines need, so the lines read only a few rows.
summed AS MATERIALIZED (
    SELECT
        section, whose, hour, type, subtype, kind, setting, present_interval,
        asked_interval, times, seconds, seconds_asked_for,
        count(*) AS records, sum(bytes)::BIGINT AS bytes, sum(calls)::BIGINT AS calls
    FROM rated
    GROUP BY ALL
),
by_type AS (
    SELECT
        section, whose, hour, type, subtype,
        sum(records)::BIGINT AS records, sum(bytes)::BIGINT AS bytes,
        ordered_sum(records / seconds_asked_for) AS records_rate,
        ordered_sum(bytes / seconds_asked_for) AS bytes_rate
    FROM summed
    GROUP BY ALL
),
by_life AS (
    SELECT
        section, whose, hour, kind,
        count(DISTINCT task) AS tasks, count(*) AS records, sum(bytes)::BIGINT AS bytes,
        max(interval_seconds) AS longest
    FROM rated
    WHERE kind IN ('class 3 short-lived', 'class 3 long-running')
    GROUP BY ALL
),
by_kind AS (
    SELECT
        section, whose, kind, setting,
        CASE
            WHEN setting IS NOT NULL AND min(present_interval) = max(present_interval)
            THEN max(present_interval)
        END AS present_interval,
        CASE
            WHEN setting IS NOT NULL AND min(asked_interval) = max(asked_interval)
            THEN max(asked_interval)
        END AS asked_interval,
        sum(records)::BIGINT AS records, sum(bytes)::BIGINT AS bytes,
        ordered_sum(records / seconds) AS records_rate, ordered_sum(bytes / seconds) AS bytes_rate,
        sum(CASE WHEN subtype = 1 THEN records END)::BIGINT AS first_records,
        ordered_sum(CASE WHEN subtype = 1 THEN records / seconds END) AS first_rate,
        CASE WHEN count(times) = count(*) THEN total(times * records) END AS projected_records,
        CASE WHEN count(times) = count(*) THEN ordered_sum(times * records / seconds) END
            AS projected_rate,
        CASE WHEN count(times) = count(*) THEN ordered_sum(times * bytes / seconds) END
            AS projected_bytes_rate
    FROM summed
    GROUP BY GROUPING SETS ((section, whose, kind, setting), (section, whose))
),
by_calls AS (
    SELECT
        section, whose, hour,
        sum(calls)::BIGINT AS calls, sum(calls) * call_us AS gathering,
        sum(records)::BIGINT AS records,
        sum(records) * record_us AS writing, sum(records) * record_us_at_worst AS writing_at_worst,
        ordered_sum((coalesce(calls, 0) * call_us + records * record_us) / seconds_asked_for) / 1e4
            AS cpu_share,
        CASE WHEN count(times) = count(*) THEN total(times * records) END AS projected_records,
        projected_records * record_us AS projected_writing,
        projected_records * record_us_at_worst AS projected_writing_at_worst
    FROM summed, cost
    WHERE kind IN ('class 3 short-lived', 'class 3 long-running')
        -- If queues are selected, some of the counted calls are missing.
        AND NOT getvariable('of_queues')
    GROUP BY section, whose, hour, call_us, record_us, record_us_at_worst
),
-- Long-running tasks of class 3, with the inputs of the planner.
long_tasks AS (
    SELECT
        section, whose, present_interval,
        first_rate * present_interval AS plan_tasks, records / nullif(first_records, 0) AS plan_task_records,
        bytes / nullif(records, 0) AS plan_bytes,
        call_rate,
        CASE WHEN getvariable('acctime') IS NULL THEN usual ELSE [asked_interval] END AS intervals
    FROM by_kind
    CROSS JOIN usual_settings
    LEFT JOIN (
        SELECT section, whose, ordered_sum(coalesce(calls, 0) / seconds) AS call_rate
        FROM summed
        WHERE kind IN ('class 3 short-lived', 'class 3 long-running')
        GROUP BY ALL
    ) USING (section, whose)
    WHERE kind = 'class 3 long-running' AND NOT getvariable('of_queues')
),
-- Queue statistics of class 5: the maximum number of queues in an interval, and the bytes of the records.
queue_rows AS (
    SELECT section, owner, max(queues) AS queues, sum(queues) AS rows
    FROM (
        SELECT section, {'system': system, 'qmgr': qmgr} AS owner, interval_start, count(*) AS queues
        FROM sectioned.qqst
        GROUP BY ALL
    )
    GROUP BY ALL
),
queue_records AS (
    SELECT section, owner, sum(bytes) AS bytes FROM taken WHERE type = 115 AND subtype = 216 GROUP BY ALL
),
queue_statistics AS (
    SELECT
        section, volume_asked_for(owner, NULL::VARCHAR) AS whose, sum(queues)::BIGINT AS plan_queues,
        sum(bytes) / nullif(sum(rows), 0) AS plan_bytes
    FROM queue_rows
    JOIN queue_records USING (section, owner)
    WHERE NOT getvariable('of_queues') AND NOT list_contains(getvariable('by'), 'job')
    GROUP BY ALL
),
queue_plans AS (
    SELECT
        q.*, present_interval,
        CASE WHEN getvariable('statime') IS NULL THEN usual ELSE [asked_interval] END AS intervals
    FROM queue_statistics AS q
    CROSS JOIN usual_settings
    LEFT JOIN (FROM by_kind WHERE kind = 'statistics') USING (section, whose)
),
lines AS (
    SELECT
        'type' AS line, 1 AS part, *,
        100 * bytes / sum(bytes) OVER (PARTITION BY section) AS share
    FROM by_type
    UNION ALL BY NAME
    SELECT
        'all' AS line, 2 AS part, section, sum(records)::BIGINT AS records,
        sum(bytes)::BIGINT AS bytes, ordered_sum(records / seconds) AS records_rate,
        ordered_sum(bytes / seconds) AS bytes_rate
    FROM summed
    GROUP BY section
    UNION ALL BY NAME
    SELECT 'tasks' AS line, 3 AS part, *, records / nullif(tasks, 0) AS task_records FROM by_life
    UNION ALL BY NAME
    SELECT
        'projection' AS line, 4 AS part, * EXCLUDE (first_records, first_rate) REPLACE (coalesce(kind, 'total') AS kind)
    FROM by_kind
    UNION ALL BY NAME
    SELECT
        'cost' AS line, 5 AS part, *,
        gathering + writing AS class_3_cpu, gathering + writing_at_worst AS class_3_cpu_at_worst,
        gathering + projected_writing AS projected_cpu,
        gathering + projected_writing_at_worst AS projected_cpu_at_worst,
        100 * (projected_cpu / nullif(class_3_cpu, 0) - 1) AS cpu_change
    FROM by_calls
    UNION ALL BY NAME
    SELECT
        'class 3' AS line, 6 AS part, * EXCLUDE (intervals), unnest(intervals)::DOUBLE AS plan_interval
    FROM long_tasks
    UNION ALL BY NAME
    SELECT
        'class 5' AS line, 7 AS part, * EXCLUDE (intervals), unnest(intervals)::DOUBLE AS plan_interval
    FROM queue_plans
)
SELECT
    * EXCLUDE (whose, bytes_rate, projected_bytes_rate), unnest(whose),
    NULL::DOUBLE AS planned_records_day, NULL::DOUBLE AS planned_mb_day,
    NULL::DOUBLE AS planned_cpu_day,
    bytes / 1048576 AS mb, bytes / nullif(records, 0) AS record_bytes,
    bytes_rate / 1048576 AS mb_rate, bytes_rate * 86400 / 1073741824 AS gb_day,
    projected_bytes_rate / 1048576 AS projected_mb_rate,
    projected_bytes_rate * 86400 / 1073741824 AS projected_gb_day,
    list_position([
        'class 1', 'class 3 short-lived', 'class 3 long-running', 'class 4', 'statistics', 'others'
    ], kind) AS kind_order
FROM lines
