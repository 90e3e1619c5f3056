-- The objects of a line that come first, with what they were in each slot of time of their queue manager.
-- `rows_of_line` are those of the line; `summary_slots` says how each queue manager's time is divided. A row is
-- spread over the slots whose middles its interval has, and the one that has its own middle.
WITH
located AS (
    SELECT
        coalesce(rows_of_line.system, '') AS system,
        coalesce(rows_of_line.qmgr, '') AS qmgr, coalesce(object, '') AS object,
        slot_us, slots, amount, {per} AS per, epoch_us(start) - first_us AS begins,
        begins + (seconds * 1e6)::BIGINT AS ends, (begins + ends) // 2 AS middle,
        least(middle // slot_us, ceil(begins / slot_us - 0.5)::BIGINT) AS earliest,
        greatest(middle // slot_us, ceil(ends / slot_us - 0.5)::BIGINT - 1) AS latest
    FROM {rows} AS rows_of_line
    JOIN summary_slots AS slots_of
        ON coalesce(rows_of_line.system, '') = slots_of.system
        AND coalesce(rows_of_line.qmgr, '') = slots_of.qmgr
    WHERE middle >= 0 AND middle < slots * slot_us
),
placed AS (
    SELECT
        system, qmgr, object, slot_us, latest - earliest + 1 AS spread,
        amount, per, unnest(range(earliest, latest + 1)) AS slot
    FROM located
),
cells AS (
    SELECT system, qmgr, object, slot, {amount_of_slot} AS amount, {per_of_slot} AS per
    FROM placed
    GROUP BY ALL
),
first_ones AS (
    SELECT
        system, qmgr, object,
        row_number() OVER (PARTITION BY system, qmgr ORDER BY {rank} DESC, object) AS place
    FROM cells
    GROUP BY system, qmgr, object
    QUALIFY place = 1 OR (place <= {top} AND max(amount) > 0)
)
SELECT system, qmgr, object, slot, cells.amount, cells.per
FROM first_ones
JOIN (SELECT DISTINCT system, qmgr, slot FROM cells) USING (system, qmgr)
LEFT JOIN cells USING (system, qmgr, object, slot)
ORDER BY system, qmgr, place, slot
