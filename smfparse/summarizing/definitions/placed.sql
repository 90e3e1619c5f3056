-- The objects of each line that come first, with what they were in each slot of time of their queue manager.
-- `summary_rows` are the rows of all lines, `summary_lines` says how they become figures, and `summary_slots` how
-- each queue manager's time is divided. A row is spread over the slots whose middles its interval has, and the
-- one that has its own middle.
WITH
located AS (
    SELECT
        line, measure, top, slots_of.system AS system, slots_of.qmgr AS qmgr,
        coalesce(object, '') AS object, slot_us, slots, amount,
        per, epoch_us(start) - first_us AS begins, begins + (seconds * 1e6)::BIGINT AS ends,
        (begins + ends) // 2 AS middle,
        least(middle // slot_us, ceil(begins / slot_us - 0.5)::BIGINT) AS earliest,
        greatest(middle // slot_us, ceil(ends / slot_us - 0.5)::BIGINT - 1) AS latest
    FROM summary_rows AS shown
    JOIN summary_lines USING (line)
    JOIN summary_slots AS slots_of
        ON coalesce(shown.system, '') = slots_of.system AND coalesce(shown.qmgr, '') = slots_of.qmgr
    WHERE middle >= 0 AND middle < slots * slot_us
),
placed AS (
    SELECT
        * EXCLUDE (slots, begins, ends, middle, earliest, latest),
        latest - earliest + 1 AS spread, unnest(range(earliest, latest + 1)) AS slot
    FROM located
),
cells AS (
    SELECT
        line, measure, top, system, qmgr, object, slot,
        CASE measure WHEN 'peak' THEN max(amount) ELSE total(amount / spread) END AS amount,
        CASE measure
            WHEN 'average' THEN total(per / spread) WHEN 'peak' THEN 1 ELSE any_value(slot_us) / 1e6
        END AS per
    FROM placed
    GROUP BY line, measure, top, system, qmgr, object, slot
),
objects AS (
    SELECT
        line, top, system, qmgr, object,
        CASE measure
            WHEN 'average' THEN sum(amount) / nullif(sum(per), 0) WHEN 'peak' THEN max(amount)
            ELSE sum(amount)
        END AS rank
    FROM cells
    GROUP BY line, measure, top, system, qmgr, object
),
first_ones AS (
    SELECT
        line, system, qmgr, object,
        row_number() OVER (
            PARTITION BY line, system, qmgr ORDER BY rank DESC NULLS LAST, object
        ) AS place
    FROM objects
    QUALIFY place = 1 OR (place <= top AND rank > 0)
)
SELECT line, system, qmgr, object, slot, cells.amount, cells.per
FROM first_ones
JOIN (SELECT DISTINCT line, system, qmgr, slot FROM cells) USING (line, system, qmgr)
LEFT JOIN cells USING (line, system, qmgr, object, slot)
ORDER BY line, system, qmgr, place, slot
