-- The objects of each line that come first, with what they were in each slot of time of their queue manager.
-- `summary_rows` are the rows of all lines, `summary_lines` says how they become figures, and `summary_slots` how
-- each queue manager's time is divided, and of how many seconds of each slot there is data. A row is spread over
-- the slots that its interval has, by the time that they have in common; less than a fiftieth of a slot is no more
-- than the difference of two clocks, and counts in the slot beside. A row of no length is in the slot that has its moment.
WITH
located AS (
    SELECT
        line, measure, top, slots_of.system AS system, slots_of.qmgr AS qmgr,
        coalesce(object, '') AS object, slot_us, slots, amount,
        per, epoch_us(start) - first_us AS begins,
        begins + greatest(1, round(coalesce(seconds, 0) * 1e6)::BIGINT) AS ends,
        slot_us // 50 AS leak,
        greatest(0, least(begins + leak, ends - 1) // slot_us) AS earliest,
        least(slots - 1, greatest(ends - leak, begins) // slot_us) AS latest
    FROM summary_rows AS shown
    JOIN summary_lines USING (line)
    JOIN summary_slots AS slots_of
        ON coalesce(shown.system, '') = slots_of.system AND coalesce(shown.qmgr, '') = slots_of.qmgr
    WHERE ends > 0 AND begins < slots * slot_us
),
placed AS (
    SELECT
        *, unnest(range(earliest, latest + 1)) AS slot,
        least(ends, slots * slot_us) - greatest(begins, 0) >= ends - begins - leak AS is_whole
    FROM (SELECT * REPLACE (greatest(earliest, latest) AS latest) FROM located WHERE earliest < slots)
),
-- What of a row counts in a slot: from `since` to `until`.
parts AS (
    SELECT
        *,
        CASE WHEN slot > earliest THEN slot * slot_us WHEN is_whole THEN begins ELSE greatest(begins, 0) END
            AS since,
        CASE
            WHEN slot < latest THEN (slot + 1) * slot_us WHEN is_whole THEN ends
            ELSE least(ends, slots * slot_us)
        END AS until,
        (until - since) / (ends - begins) AS share
    FROM placed
),
-- Of how many seconds of each slot there are rows: statistics can be missing where class 3 goes on.
of_rows AS (
    SELECT line, system, qmgr, slot, sum(until - greatest(since, coalesce(before, since))) / 1e6 AS seconds
    FROM (
        SELECT
            *, max(until) OVER (
                PARTITION BY line, system, qmgr, slot ORDER BY since, until
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS before
        FROM (
            SELECT DISTINCT line, system, qmgr, slot, since, until
            FROM parts
            WHERE measure NOT IN ('average', 'peak')
        )
    )
    WHERE until > coalesce(before, since)
    GROUP BY ALL
),
of_slots AS (
    SELECT system, qmgr, unnest(range(slots)) AS slot, unnest(covered) AS covered FROM summary_slots
),
sums AS (
    SELECT
        line, measure, top, system, qmgr, object, slot,
        CASE measure WHEN 'peak' THEN max(amount) ELSE total(amount * share) END AS amount,
        total(per * share) AS per
    FROM parts
    GROUP BY line, measure, top, system, qmgr, object, slot
),
cells AS (
    SELECT
        sums.* REPLACE (
            CASE measure
                WHEN 'average' THEN per WHEN 'peak' THEN 1 ELSE greatest(covered, seconds)
            END AS per
        )
    FROM sums
    JOIN of_slots USING (system, qmgr, slot)
    LEFT JOIN of_rows USING (line, system, qmgr, slot)
),
objects AS (
    SELECT
        line, top, system, qmgr, object,
        CASE measure
            WHEN 'average' THEN total(amount) / nullif(total(per), 0) WHEN 'peak' THEN max(amount)
            ELSE total(amount)
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
SELECT line, system, qmgr, object, slot, cells.amount, cells.per, slot_per
FROM first_ones
JOIN (SELECT line, system, qmgr, slot, max(per) AS slot_per FROM cells GROUP BY ALL)
    USING (line, system, qmgr)
LEFT JOIN cells USING (line, system, qmgr, object, slot)
ORDER BY line, system, qmgr, place, slot
