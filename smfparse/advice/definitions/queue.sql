-- A queue in an interval: QQST, and for how long and how far what began in earlier intervals has gone on.
-- `rising`, `unread`, `stuck` and `held` name what an interval shows; `run_...` is about the intervals with it
-- that follow one another up to a gap or an interval without it. What a partial record has no value for is NULL.
WITH
counted AS (
    SELECT
        system, qmgr, qqstqnam AS object, interval_start AS start, interval_seconds AS seconds, utc_offset,
        mq_version, qqstdisp AS is_shared, qqstpart AS is_partial,
        bool_or(NOT qqstpart) OVER (PARTITION BY qqstqsgn, qqstqnam) AS is_known, qqstuncm AS is_uncommitted,
        CASE WHEN NOT qqstpart THEN qqstdpth::DOUBLE END AS depth,
        CASE WHEN NOT qqstpart THEN qqstmage::DOUBLE END AS age,
        regexp_matches(qqstqnam, '(^|[._])(DEAD|DLQ)([._]|$)') AS is_dead_letter,
        qqstdphi::DOUBLE AS most, CASE WHEN NOT qqstpart THEN qqstdplo END AS least, greatest(qqstipct, qqstiphi)::BIGINT AS getters,
        greatest(qqstopct, qqstophi)::BIGINT AS putters, qqstlget AS last_get, qqstqtlt::DOUBLE AS usual_us,
        qqstputs::DOUBLE + qqstput1 AS puts, qqstflpt::DOUBLE + qqstflp1 AS failed,
        qqstfptc::DOUBLE AS handed, qqststrm::DOUBLE AS streamed, qqstgets::DOUBLE AS gets,
        qqstrdgw::DOUBLE AS redriven, qqstexpr::DOUBLE AS expired, qqstrbgt::DOUBLE AS rolled_back
    FROM inputs.qqst
),
before AS (
    SELECT
        *, lag(start + to_microseconds((seconds * 1e6)::BIGINT)) OVER its AS last_end,
        lag(depth) OVER its AS last_depth, lag(age) OVER its AS last_age,
        lag(streamed) OVER its AS last_streamed, lead(streamed) OVER its AS next_streamed,
        -- Depths are compared over ten minutes: from one minute to the next they go up and down.
        lag(depth, greatest(1, round(600 / seconds))::INT) OVER its AS earlier_depth,
        lag(puts / seconds, greatest(1, round(600 / seconds))::INT) OVER its AS earlier_puts,
        lag(gets / seconds, greatest(1, round(600 / seconds))::INT) OVER its AS earlier_gets
    FROM counted
    WHERE seconds > 0
    WINDOW its AS (PARTITION BY system, qmgr, object ORDER BY start)
),
shown AS (
    SELECT
        *, coalesce(epoch_us(start) - epoch_us(last_end) > 1e5 * seconds, TRUE) AS is_behind_gap,
        -- A queue from which as much expires as is put grows to what comes within the time of expiry, and no further.
        -- Nor does one grow that was emptied meanwhile.
        depth > earlier_depth AND NOT coalesce(least = 0 AND last_depth > 0 AND gets >= last_depth, FALSE)
            AND coalesce(expired < 0.9 * puts OR puts = 0, TRUE) AS rising,
        NOT is_shared AND getters = 0 AND depth > 0 AND puts > 0 AND gets = 0 AS unread,
        depth > 0 AND last_depth > 0 AND age >= last_age + seconds - 1 AND puts > 0 AND gets = 0 AS stuck,
        is_uncommitted AND puts + gets = 0 AS held
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
    WINDOW its AS (PARTITION BY system, qmgr, object ORDER BY start ROWS UNBOUNDED PRECEDING)
)
SELECT
    system, qmgr, object, '' AS job, start, seconds, utc_offset, mq_version,
    is_shared, is_partial, is_known, is_dead_letter, depth, age, most, getters, putters, last_get, usual_us,
    puts, failed, handed, streamed, gets, redriven, expired, rolled_back,
    last_depth, last_streamed, next_streamed, rising, unread, stuck, held,
    -- A batch job fills a queue that nothing used before, and another one empties it later.
    coalesce(
        first_value(puts + gets) OVER (PARTITION BY system, qmgr, object, filling ORDER BY start) = 0
            AND filling < max(filling) OVER (PARTITION BY system, qmgr, object), FALSE
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
FROM numbered
WINDOW one_rise AS (PARTITION BY system, qmgr, object, rise)
