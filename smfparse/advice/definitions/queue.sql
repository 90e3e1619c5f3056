-- A queue in an interval. `rising`, `unread`, `stuck` and `held` are conditions of the interval. A run is consecutive
-- intervals with the same condition and without a gap. `rise_...`, `unread_seconds`, `stuck_seconds` and `held_seconds`
-- describe the whole run. Values that a partial record does not contain are NULL.
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
        -- Depths are compared over ten minutes, because they go up and down from one minute to the next.
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
        -- A queue is not rising if it was emptied meanwhile, or if about as many messages expire as are put: its growth
        -- ends at the messages that are put within the expiry time.
        depth > earlier_depth AND NOT coalesce(least = 0 AND last_depth > 0 AND gets >= last_depth, FALSE)
            AND coalesce(messages_expired < 0.9 * puts OR puts = 0, TRUE) AS rising,
        NOT shared AND getters = 0 AND depth > 0 AND puts > 0 AND gets = 0 AS unread,
        -- Without puts, only messages that arrived during the input count: a queue used as an archive is never empty.
        depth > 0 AND last_depth > 0 AND oldest_message_age >= last_age + seconds - 1 AND gets = 0 AND (
            puts > 0 OR (
                depth >= greatest(10, 2 * shallowest) AND NOT is_dead_letter AND object NOT LIKE 'SYSTEM.%'
            )
        ) AS stuck,
        uncommitted AND puts + gets = 0 AS held
    FROM before
),
-- The numbers of runs are unique over all queues, because the first interval of each queue counts as after a gap.
numbered AS (
    SELECT
        *, depth > 0 AND NOT is_behind_gap AS fills,
        sum(CASE WHEN last_end IS NULL THEN 1 ELSE 0 END) OVER its AS queue_no,
        sum(CASE WHEN rising AND NOT is_behind_gap THEN 0 ELSE 1 END) OVER its AS rise,
        sum(CASE WHEN unread AND NOT is_behind_gap THEN 0 ELSE 1 END) OVER its AS unread_run,
        sum(CASE WHEN stuck AND NOT is_behind_gap THEN 0 ELSE 1 END) OVER its AS stuck_run,
        sum(CASE WHEN held AND NOT is_behind_gap THEN 0 ELSE 1 END) OVER its AS held_run,
        sum(CASE WHEN fills THEN 0 ELSE 1 END) OVER its AS filling
    FROM shown
    WINDOW its AS (ORDER BY system, qmgr, object, start, sequence ROWS UNBOUNDED PRECEDING)
),
rises AS (
    SELECT
        rise, sum(seconds) AS rise_seconds, min(earlier_depth) AS rise_from, max(depth) AS rise_to,
        arg_min(earlier_puts, start) AS puts_before, arg_min(earlier_gets, start) AS gets_before
    FROM numbered
    WHERE rising
    GROUP BY rise
),
unread_runs AS (SELECT unread_run, sum(seconds) AS unread_seconds FROM numbered WHERE unread GROUP BY unread_run),
stuck_runs AS (SELECT stuck_run, sum(seconds) AS stuck_seconds FROM numbered WHERE stuck GROUP BY stuck_run),
held_runs AS (SELECT held_run, sum(seconds) AS held_seconds FROM numbered WHERE held GROUP BY held_run),
fillings AS (
    SELECT
        queue_no, filling, bool_or(fills IS NOT TRUE AND puts + gets = 0) AS is_turn, min(start) AS filled_since,
        epoch(max(start) - min(start)) AS waited,
        filling < max(filling) OVER (PARTITION BY queue_no) AS is_emptied
    FROM numbered
    GROUP BY queue_no, filling
),
waits AS (
    SELECT queue_no, max(waited) AS longest_wait FROM fillings WHERE is_turn AND is_emptied GROUP BY queue_no
)
SELECT
    * EXCLUDE (
        queue_sharing_group, lowest_depth, open_input, highest_open_input, open_output, highest_open_output, least,
        last_end, last_age, earlier_depth, earlier_puts, earlier_gets, is_behind_gap, fills, rise, unread_run, stuck_run,
        held_run, filling, shallowest, is_turn, waited, is_emptied, queue_no, filled_since, longest_wait
    ),
    -- A batch job fills an idle queue, and another job empties it: later in the input, or presumably after its end, if
    -- the messages have not waited longer than those of an earlier batch.
    coalesce(is_turn AND (is_emptied OR epoch(start - filled_since) <= longest_wait), FALSE) AS is_batch
FROM numbered
LEFT JOIN rises USING (rise)
LEFT JOIN unread_runs USING (unread_run)
LEFT JOIN stuck_runs USING (stuck_run)
LEFT JOIN held_runs USING (held_run)
LEFT JOIN fillings USING (queue_no, filling)
LEFT JOIN waits USING (queue_no)
