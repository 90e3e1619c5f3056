-- A queue in an interval, and for how long and how far what began in earlier intervals has gone on. `rising`,
-- `unread`, `stuck` and `held` name what an interval shows; `run_...` is about the intervals with it that follow one
-- another up to a gap or an interval without it. What a partial record has no value for is NULL.
WITH
before AS (
    SELECT
        *, bool_or(NOT partial) OVER (PARTITION BY queue_sharing_group, object) AS is_known,
        regexp_matches(object, '(^|[._])(DEAD|DLQ)([._]|$)') AS is_dead_letter,
        CASE WHEN NOT partial THEN lowest_depth END AS least, greatest(open_input, highest_open_input) AS getters,
        greatest(open_output, highest_open_output) AS putters,
        lag(start + to_microseconds((seconds * 1e6)::BIGINT)) OVER its AS last_end,
        lag(depth) OVER its AS last_depth, lag(oldest_message_age) OVER its AS last_age,
        min(greatest(depth + gets::DOUBLE - puts, 0)) OVER (its ROWS UNBOUNDED PRECEDING) AS shallowest,
        lag(streamed) OVER its AS last_streamed, lead(streamed) OVER its AS next_streamed,
        -- Depths are compared over ten minutes: from one minute to the next they go up and down.
        lag(depth, greatest(1, round(600 / seconds))::INT) OVER its AS earlier_depth,
        lag(puts / seconds, greatest(1, round(600 / seconds))::INT) OVER its AS earlier_puts,
        lag(gets / seconds, greatest(1, round(600 / seconds))::INT) OVER its AS earlier_gets
    FROM rows
    WHERE seconds > 0
    WINDOW its AS (PARTITION BY system, qmgr, object ORDER BY start, sequence)
),
shown AS (
    SELECT
        *, coalesce(epoch_us(start) - epoch_us(last_end) > 1e5 * seconds, TRUE) AS is_behind_gap,
        -- A queue from which as much expires as is put grows to what comes within the time of expiry, and no further.
        -- Nor does one grow that was emptied meanwhile.
        depth > earlier_depth AND NOT coalesce(least = 0 AND last_depth > 0 AND gets >= last_depth, FALSE)
            AND coalesce(messages_expired < 0.9 * puts OR puts = 0, TRUE) AS rising,
        NOT shared AND getters = 0 AND depth > 0 AND puts > 0 AND gets = 0 AS unread,
        -- Without puts, messages wait for a consumer if they came in the time of the input: an archive is always full.
        depth > 0 AND last_depth > 0 AND oldest_message_age >= last_age + seconds - 1 AND gets = 0 AND (
            puts > 0 OR (
                depth >= greatest(10, 2 * shallowest) AND NOT is_dead_letter AND object NOT LIKE 'SYSTEM.%'
            )
        ) AS stuck,
        uncommitted AND puts + gets = 0 AS held
    FROM before
),
numbered AS (
    SELECT
        *,
        sum(CASE WHEN rising AND NOT is_behind_gap THEN 0 ELSE 1 END) OVER its AS rise,
        sum(CASE WHEN unread AND NOT is_behind_gap THEN 0 ELSE 1 END) OVER its AS unread_run,
        sum(CASE WHEN stuck AND NOT is_behind_gap THEN 0 ELSE 1 END) OVER its AS stuck_run,
        sum(CASE WHEN held AND NOT is_behind_gap THEN 0 ELSE 1 END) OVER its AS held_run,
        sum(CASE WHEN depth > 0 AND NOT is_behind_gap THEN 0 ELSE 1 END) OVER its AS filling
    FROM shown
    WINDOW its AS (PARTITION BY system, qmgr, object ORDER BY start, sequence ROWS UNBOUNDED PRECEDING)
),
turns AS (
    SELECT
        *, first_value(puts + gets) OVER a_filling = 0 AS is_turn,
        epoch(start - first_value(start) OVER a_filling) AS waited,
        filling < max(filling) OVER (PARTITION BY system, qmgr, object) AS is_emptied
    FROM numbered
    WINDOW a_filling AS (PARTITION BY system, qmgr, object, filling ORDER BY start, sequence)
)
SELECT
    * EXCLUDE (
        queue_sharing_group, lowest_depth, open_input, highest_open_input, open_output, highest_open_output, least,
        last_end, last_age, earlier_depth, earlier_puts, earlier_gets, is_behind_gap, rise, unread_run, stuck_run,
        held_run, filling, shallowest, is_turn, waited, is_emptied
    ),
    -- A batch job fills a queue that nothing used before, and another one empties it: later in the input, or after no
    -- longer than once before.
    coalesce(
        is_turn AND (
            is_emptied
            OR waited <= max(CASE WHEN is_turn AND is_emptied THEN waited END) OVER (PARTITION BY system, qmgr, object)
        ), FALSE
    ) AS is_batch,
    sum(CASE WHEN rising THEN seconds END) OVER one_rise AS rise_seconds,
    min(CASE WHEN rising THEN earlier_depth END) OVER one_rise AS rise_from,
    max(CASE WHEN rising THEN depth END) OVER one_rise AS rise_to,
    arg_min(CASE WHEN rising THEN earlier_puts END, start) OVER one_rise AS puts_before,
    arg_min(CASE WHEN rising THEN earlier_gets END, start) OVER one_rise AS gets_before,
    sum(CASE WHEN unread THEN seconds END)
        OVER (PARTITION BY system, qmgr, object, unread_run) AS unread_seconds,
    sum(CASE WHEN stuck THEN seconds END)
        OVER (PARTITION BY system, qmgr, object, stuck_run) AS stuck_seconds,
    sum(CASE WHEN held THEN seconds END)
        OVER (PARTITION BY system, qmgr, object, held_run) AS held_seconds
FROM turns
WINDOW one_rise AS (PARTITION BY system, qmgr, object, rise)
