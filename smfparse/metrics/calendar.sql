-- The calendar: which intervals there are, of what kind each is, and what is before it. Everything that asks when
-- asks these macros. An interval is known by when it began and ended (UTC), its seconds and its QWHSISEQ; `alike`
-- says whose it is: those that are alike follow one another.

-- Whether an interval begins where another ended, `apart` seconds before; NULL: none came before.
CREATE OR REPLACE MACRO goes_on(apart) AS coalesce(abs(apart) <= 1, FALSE);

-- Seconds between an interval and the end of all that are before it; below 0 they overlap.
CREATE OR REPLACE MACRO seconds_apart(started, ended, alike) AS (
    epoch_us(started) - epoch_us(max(ended) OVER (
        PARTITION BY alike ORDER BY started, ended
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ))
) / 1e6;

-- How long intervals usually are: one row per `alike` of the rows of `intervals`, which have `seconds` and
-- `apart`. `typical` is the median of those that go on from another; `going_on` says how many they are.
-- The stub that a start begins with does not go on, nor does an interval that goes back to a time before
-- the trace. Where none goes on, all count; but none that is shorter than the shortest setting, a second.
-- Each counts by its seconds in the median: a part of an interval is shorter than the whole ones beside
-- it, so whole ones cover most of the time, however many parts there are.
CREATE OR REPLACE MACRO usual_intervals(intervals) AS TABLE
WITH
whole AS (
    SELECT alike, seconds, goes_on(apart) AS following
    FROM query_table(intervals)
    WHERE seconds > 0.9
    QUALIFY following OR NOT bool_or(following) OVER (PARTITION BY alike)
)
SELECT alike, min(seconds) AS typical, any_value(going_on) AS going_on
FROM (
    SELECT
        alike, seconds,
        count_if(following) OVER (PARTITION BY alike) AS going_on,
        total(seconds) OVER (PARTITION BY alike ORDER BY seconds) AS up_to,
        total(seconds) OVER (PARTITION BY alike) AS altogether
    FROM whole
)
WHERE 2.02 * up_to >= altogether  -- of two that cover about the same time, the shorter
GROUP BY alike;

-- Seconds between one interval and the next that count neither as gap nor as overlap.
CREATE OR REPLACE MACRO slack(typical) AS least(1, coalesce(typical, 10) / 10);

-- Whether the queue manager started again before an interval. QWHSISEQ begins at 1 after a start. Where it was
-- not written (0), a restart shows by a gap and a shorter interval behind it, up to the next boundary.
CREATE OR REPLACE MACRO is_after_start(seconds, apart, typical, sequence_no, sequence_before) AS CASE
    WHEN sequence_no > 0 AND coalesce(sequence_before, 1) > 0
    THEN sequence_no = 1 OR coalesce(sequence_no < sequence_before, FALSE)
    WHEN coalesce(sequence_no, 0) = 0
    THEN coalesce(apart > slack(typical) AND seconds < 0.9 * typical, FALSE)
    ELSE FALSE
END;

-- What an interval is among those like it:
--   stub   less than half as long as they usually are, after a start or where none goes on to it: the rest until
--          the clock of the interval. Anything shorter than the shortest setting is one
--   first  more than three times as long, where none goes on to it: it goes back to a time before the trace
-- Both differ as much from the interval that goes on from them, if one does: else the setting was changed later.
-- Of the others, which belong to the median, it is long if it is more than one and a half times as long, and
-- short if it is less than half as long.
CREATE OR REPLACE MACRO kind_of_interval(seconds, apart, typical, going_on, is_restart, following) AS CASE
    WHEN seconds <= 0.9 THEN 'stub'
    WHEN (is_restart OR coalesce(apart > 1, TRUE)) AND seconds < least(typical, following) / 2 THEN 'stub'
    WHEN coalesce(apart > 1, TRUE) AND going_on > 1 AND seconds > 3 * greatest(typical, following) THEN 'first'
    WHEN seconds > 1.5 * typical THEN 'long'
    WHEN seconds < typical / 2 THEN 'short'
    ELSE 'typical'
END;

-- Seconds from one moment to another (microseconds UTC) that are outside of the hours which the selection has of each
-- day: see `calendar_macros`.
CREATE OR REPLACE MACRO unselected_seconds(began, ended, utc_offset) AS 0;

-- Seconds without data before an interval, of those since the one before ended; NULL: there are none. Of those that are
-- not selected there is no data; nor of an interval before and one after them, half of which is.
CREATE OR REPLACE MACRO gap_before(apart, unselected, typical) AS CASE
    WHEN unselected = 0 THEN CASE WHEN apart > slack(typical) THEN apart END
    WHEN apart - unselected > typical + slack(typical) THEN apart - unselected
END;

-- The intervals of `spans`, which has `alike`, `started`, `ended`, `seconds`, `utc_offset` and `sequence_no`, each once;
-- with
--   typical     how long those like it usually are
--   gap         seconds without data before it, overlap: seconds that it has in common with those before; or NULL
--   is_restart  whether the queue manager started again before it
--   missing     how many intervals QWHSISEQ says are missing before it, or NULL
--   kind        see kind_of_interval
CREATE OR REPLACE MACRO intervals_in_order(spans) AS TABLE
WITH
placed_in_order AS (
    SELECT
        *, seconds_apart(started, ended, alike) AS apart,
        lag(sequence_no) OVER (PARTITION BY alike ORDER BY started, ended) AS sequence_before,
        coalesce(unselected_seconds(epoch_us(started) - (1e6 * apart)::BIGINT, epoch_us(started), utc_offset), 0)
            AS unselected
    FROM query_table(spans)
)
SELECT
    * EXCLUDE (sequence_before, going_on, unselected),
    gap_before(apart, unselected, typical) AS gap,
    CASE WHEN apart < -slack(typical) THEN -apart END AS overlap,
    is_after_start(seconds, apart, typical, sequence_no, sequence_before) AS is_restart,
    CASE
        WHEN sequence_before > 0 AND sequence_no > sequence_before AND (unselected = 0 OR gap > 0)
        THEN nullif(sequence_no - sequence_before - 1 - coalesce(round((apart - gap) / typical), 0), 0)::BIGINT
    END AS missing,
    kind_of_interval(seconds, apart, typical, going_on, is_restart, lead(CASE WHEN goes_on(apart) THEN seconds END)
        OVER (PARTITION BY alike ORDER BY started, ended)) AS kind
FROM placed_in_order
LEFT JOIN usual_intervals('placed_in_order') USING (alike);

-- Seconds that intervals cover, by lists of when they begin and of when they end, in microseconds: from the first to
-- the last, without the gaps. There is a gap behind the n-th end if all that begin later begin after it.
CREATE OR REPLACE MACRO seconds_covered(begins, ends) AS (
    list_max(ends::BIGINT[]) - list_min(begins::BIGINT[]) - coalesce(list_sum(list_transform(
        list_zip(list_sort(begins::BIGINT[])[2:], list_sort(ends::BIGINT[])[:-2]),
        lambda each: greatest(0::BIGINT, each[1]::BIGINT - each[2]::BIGINT)
    )), 0)
) / 1e6;

-- The time of a row of accounting, in microseconds. `is_whole`: it is an interval of accounting, which is some minutes
-- (ACCTIME) within a second, and its task began earlier. The first record of a task covers all time since the task began,
-- and the first one after the trace was off covers the time since its last record: both may be hours.
CREATE OR REPLACE MACRO task_span(interval_start, interval_end, task_started_tod) AS {
    'began': epoch_us(interval_start), 'ended': epoch_us(interval_end),
    'is_whole': coalesce(
        epoch_us(interval_start) > (task_started_tod >> 12)::BIGINT - 2208988800000000 + 1000000
        AND (epoch_us(interval_end) - epoch_us(interval_start) + 1000000) % 60000000 < 2000000
        AND epoch_us(interval_end) - epoch_us(interval_start) > 2000000,
        FALSE
    )
};

-- The seconds that rows of accounting cover, without the gaps: one row per `alike`. Both have `alike`, `began` and
-- `ended`, in microseconds; rows of accounting are as from task_span. An interval of accounting counts whole: it can
-- begin before the selected statistics and end after them. Of another row that meets statistics only the part within
-- them counts. Time between rows that has statistics is no gap: no task was active. Rows begin and end within a second of
-- the statistics that are written with them.
CREATE OR REPLACE MACRO covered_time(tasks, statistics) AS TABLE
WITH
bounds AS (
    SELECT alike, min(began) AS earliest, max(ended) AS latest
    FROM query_table(statistics)
    WHERE began <= ended
    GROUP BY alike
),
of_rows AS (
    SELECT
        alike, coalesce(NOT is_whole AND began < latest AND ended > earliest, FALSE) AS is_within,
        CASE WHEN is_within THEN greatest(began, earliest) ELSE began END AS began,
        CASE WHEN is_within THEN least(ended, latest) ELSE ended END AS ended
    FROM query_table(tasks)
    LEFT JOIN bounds USING (alike)
    WHERE began <= ended
),
reaches AS (
    SELECT alike, min(began) AS earliest, max(ended) AS latest FROM of_rows GROUP BY alike
),
spans AS (
    SELECT alike, began, ended FROM of_rows
    UNION
    SELECT
        alike, CASE WHEN earliest - began < 1000000 THEN began ELSE earliest END,
        CASE WHEN ended - latest < 1000000 THEN ended ELSE latest END
    FROM query_table(statistics)
    JOIN reaches USING (alike)
    WHERE began < latest AND ended > earliest
)
SELECT alike, min(began) AS began, max(ended) AS ended, seconds_covered(list(began), list(ended)) AS seconds
FROM spans
GROUP BY alike;

-- The intervals of each queue manager, in order: rows of QMST, QJST, QCCT, WTID and QCST are named. `source` 1 are
-- those of its statistics, 2 of its channel initiator, 3 of its accounting, which are of tasks and channels that go
-- on side by side; the lowest one that a queue manager has is its calendar. `is_derived`: the record holds no
-- interval (MQ 7), which is the time since the record before.
CREATE OR REPLACE MACRO intervals_of_qmgrs(messages, logs, channel_initiators, identities, channels) AS TABLE
WITH
of_statistics AS (
    SELECT
        system, qmgr, interval_start, interval_seconds, sequence_no, utc_offset, mq_version,
        counted_at = smf_time AS is_derived
    FROM query_table(messages)
    UNION ALL
    SELECT
        system, qmgr, interval_start, interval_seconds, sequence_no, utc_offset, mq_version,
        counted_at = smf_time
    FROM query_table(logs)
),
of_accounting AS (
    SELECT
        system, qmgr, interval_start, utc_offset, mq_version,
        interval_start + to_microseconds(round(1e6 * interval_seconds)::BIGINT) AS interval_end
    FROM (
        SELECT system, qmgr, interval_start, interval_seconds, utc_offset, mq_version
        FROM query_table(identities)
        UNION ALL
        SELECT system, qmgr, interval_start, interval_seconds, utc_offset, mq_version
        FROM query_table(channels)
    )
    WHERE interval_seconds BETWEEN 0 AND 1e9
),
every_span AS (
    SELECT
        system, qmgr, 1 AS source, interval_start AS started, max(interval_seconds) AS seconds,
        max(sequence_no) AS sequence_no, max(utc_offset) AS utc_offset, max(mq_version) AS mq_version,
        coalesce(bool_and(is_derived), FALSE) AS is_derived
    FROM of_statistics
    GROUP BY ALL
    UNION ALL BY NAME
    SELECT
        system, qmgr, 2 AS source, interval_start AS started, max(interval_seconds) AS seconds,
        max(utc_offset) AS utc_offset, max(mq_version) AS mq_version
    FROM query_table(channel_initiators)
    GROUP BY ALL
    UNION ALL BY NAME
    SELECT
        system, qmgr, 3 AS source, min(interval_start) AS started,
        (epoch_us(max(interval_end)) - epoch_us(min(interval_start))) / 1e6 AS seconds,
        max(utc_offset) AS utc_offset, max(mq_version) AS mq_version
    FROM of_accounting
    GROUP BY system, qmgr, date_trunc('minute', interval_start), date_trunc('minute', interval_end)
),
spans_of_qmgrs AS (
    SELECT
        *, {'system': system, 'qmgr': qmgr} AS alike,
        started + to_microseconds(round(1e6 * seconds)::BIGINT) AS ended
    FROM every_span
    WHERE started IS NOT NULL AND seconds BETWEEN 0 AND 1e9
    QUALIFY source = min(source) OVER (PARTITION BY system, qmgr)
)
SELECT
    system, qmgr, source, started, seconds, utc_offset, mq_version, typical, gap,
    is_restart AND source = 1 AS is_restart, missing, kind, coalesce(is_derived, FALSE) AS is_derived
FROM intervals_in_order('spans_of_qmgrs');

-- The interval in which each record of class 3 is judged: that of the statistics that has the middle of the
-- record's own. Where there are no statistics, or class 3 is written for longer intervals than they are, it is as
-- long as class 3's are, and where that is not known ten minutes. The first records of long tasks say all since the
-- task began, long before the first statistics: they are left out.
CREATE OR REPLACE MACRO task_intervals(identities, statistics) AS TABLE
WITH
intervals AS (
    SELECT DISTINCT system, qmgr, epoch_us(interval_start) AS start, interval_seconds AS seconds
    FROM query_table(statistics)
    WHERE interval_start IS NOT NULL
),
of_statistics AS (
    SELECT
        system, qmgr, min(start) - 3e6 * median(seconds) AS earliest, median(seconds) AS usual,
        row_number() OVER (ORDER BY system, qmgr) AS number
    FROM intervals
    GROUP BY system, qmgr
),
-- DuckDB 2.0 fails within bounds of memory if an ASOF join has keys, so one number is for queue manager and time.
placed AS (
    SELECT start, seconds, number, number * 1e16::HUGEINT + start AS place
    FROM intervals
    JOIN of_statistics USING (system, qmgr)
),
tasks AS (
    SELECT
        input_no, source, record_no, system, qmgr, mq_version, utc_offset,
        coalesce(wtidccn, '') AS job, coalesce(wtidchl, '') AS channel, channel <> '' AS is_channel,
        wtidatyp_text = 'CICS' OR wtidatyp_text LIKE 'IMS%' AS is_transaction,
        coalesce(interval_seconds, 0) AS own_seconds, epoch_us(interval_start) AS begin,
        begin + 5e5 * own_seconds AS middle
    FROM query_table(identities)
    WHERE block_no = 1
),
ended AS (
    SELECT system, qmgr, min(begin + 1e6 * own_seconds) - 1e6 AS earliest_end
    FROM tasks
    WHERE own_seconds >= 60
    GROUP BY ALL
),
-- A record that begins before the first of them ended can be the first of its task, of any length.
of_accounting AS (
    SELECT system, qmgr, median(own_seconds) AS own_usual, min(begin) AS origin
    FROM tasks
    JOIN ended USING (system, qmgr)
    WHERE own_seconds >= 60 AND begin >= earliest_end
    GROUP BY ALL
),
known AS (
    SELECT
        system, qmgr, number, earliest, coalesce(usual * 1.5 < own_usual, usual IS NULL) AS is_own,
        coalesce(round(own_usual), 600) AS own_length, coalesce(origin, 0) AS origin
    FROM of_statistics
    FULL JOIN of_accounting USING (system, qmgr)
)
SELECT
    input_no, source, record_no, tasks.system, tasks.qmgr, mq_version, utc_offset, job, channel,
    is_channel, is_transaction,
    NOT coalesce(is_own, TRUE)
        AND coalesce(known.number = placed.number AND middle < placed.start + 1e6 * placed.seconds, FALSE) AS is_inside,
    coalesce(own_length, 600) AS length, coalesce(origin, 0) AS since,
    to_timestamp(CASE
        WHEN is_inside THEN placed.start
        ELSE since + 1e6 * length * floor((middle - since) / (1e6 * length))
    END / 1e6) AS start,
    CASE WHEN is_inside THEN placed.seconds ELSE length END AS seconds
FROM tasks
LEFT JOIN known ON tasks.system = known.system AND tasks.qmgr = known.qmgr
ASOF LEFT JOIN placed ON known.number * 1e16::HUGEINT + floor(middle)::BIGINT >= placed.place
WHERE coalesce(begin >= earliest, TRUE);
