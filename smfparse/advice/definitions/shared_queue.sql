-- Use of a shared queue in an interval, and the writes of MQPUT1 to its structure. `unread`: tasks of this queue
-- manager put messages and got none. Over consecutive unread intervals, `unread_puts` messages were put, and the used
-- entries of the structure grew by `entries_grown`. They do not grow if another queue manager gets the messages.
WITH
writes AS (
    SELECT
        input_no, source, record_no, block_no, sum(cfcount) AS put1_writes
    FROM inputs.wqst_cf
    WHERE verb = 'put1' AND request = 6
    GROUP BY ALL
),
uses AS (
    SELECT
        placed.system, placed.qmgr, base_name AS object, '' AS job, start, seconds,
        any_value(placed.utc_offset) AS utc_offset, max(placed.mq_version) AS mq_version,
        any_value(structure) AS structure, sum(opens)::BIGINT AS opens,
        sum(opens - opencf0)::BIGINT AS opens_cf, total(open_elapsed) AS open_us, total(open_cpu) AS open_cpu_us,
        sum(put1s)::BIGINT AS put1s, sum(streamed)::BIGINT AS streamed,
        coalesce(sum(put1_writes), 0)::BIGINT AS put1_writes,
        sum(messages_put)::DOUBLE AS put, sum(messages_got)::DOUBLE AS got
    FROM queue_use_figures
    JOIN task_intervals('inputs.wtid', 'inputs.qmst') AS placed USING (input_no, source, record_no)
    LEFT JOIN writes USING (input_no, source, record_no, block_no)
    WHERE structure IS NOT NULL
    GROUP BY placed.system, placed.qmgr, base_name, start, seconds
),
shown AS (
    SELECT
        uses.*, most_entries, put > 0 AND got = 0 AS unread,
        epoch_us(start) - lag(epoch_us(start) + 1e6 * seconds) OVER its <= 1e5 * seconds AS follows
    FROM uses
    LEFT JOIN structure_figures AS s
        ON s.system = uses.system AND s.qmgr = uses.qmgr AND s.object = structure AND interval_start = start
    WINDOW its AS (PARTITION BY uses.system, uses.qmgr, uses.object ORDER BY start)
),
numbered AS (
    SELECT
        *, sum(CASE WHEN unread AND follows THEN 0 ELSE 1 END)
            OVER (PARTITION BY system, qmgr, object ORDER BY start ROWS UNBOUNDED PRECEDING) AS run
    FROM shown
)
SELECT
    * EXCLUDE (follows, run),
    sum(CASE WHEN unread THEN seconds END) OVER one_run AS unread_seconds,
    sum(CASE WHEN unread THEN put END) OVER one_run AS unread_puts,
    max(most_entries) OVER one_run - min(most_entries) OVER one_run AS entries_grown
FROM numbered
WINDOW one_run AS (PARTITION BY system, qmgr, object, run)
