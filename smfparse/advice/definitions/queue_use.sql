-- Use of a queue by the tasks of a job in an interval, and the coupling facility requests of their gets. A class 3
-- record is counted in the statistics interval that contains the middle of the record.
WITH
lists AS (
    SELECT
        input_no, source, record_no, block_no,
        sum(CASE WHEN request = 9 THEN cfcount END) AS lists,
        sum(CASE WHEN request IN (11, 12) THEN cfcount END) AS moves
    FROM inputs.wqst_cf
    WHERE verb = 'get'
    GROUP BY ALL
),
jobs AS (
    SELECT
        placed.system, placed.qmgr, queue AS object, job, start, seconds, any_value(placed.utc_offset) AS utc_offset,
        max(placed.mq_version) AS mq_version,
        count(DISTINCT correl)::DOUBLE AS tasks,
        bool_or(is_transaction) AS is_transaction, bool_or(structure IS NOT NULL) AS is_shared,
        bool_and(indxtype = 0) AS is_plain,
        sum(opens)::DOUBLE AS opens, total(open_cpu + close_cpu) AS open_cpu_us,
        sum(uses.gets)::DOUBLE AS get_calls, total(get_cpu) AS get_cpu_us,
        sum(uses.puts)::DOUBLE AS put_calls, total(put_cpu) AS put_cpu_us,
        sum(put1s)::DOUBLE AS put1_calls, total(put1_cpu) AS put1_cpu_us,
        total(uses.browses) AS browses, sum(gets_specific)::DOUBLE AS gets_by_id,
        total(messages_skipped::DOUBLE + pages_skipped) AS skipped, sum(messages_expired)::DOUBLE AS expired,
        sum(messages_got)::DOUBLE AS found,
        total(coalesce(destructive_gets, greatest(messages_got::DOUBLE - uses.browses, 0))) AS gets,
        sum(messages_put)::DOUBLE AS puts, total(persistent_put) AS persistent, sum(selcount)::DOUBLE AS selectors,
        sum(uses.streamed)::DOUBLE AS streamed, total(time_on_queue_average_amount) AS time_us,
        sum(time_on_queue_average_per)::DOUBLE AS timed,
        max(greatest(largest_got, largest_put)) AS largest,
        coalesce(sum(lists.lists), 0)::DOUBLE AS lists, coalesce(sum(lists.moves), 0)::DOUBLE AS moves
    FROM queue_use_figures AS uses
    JOIN task_intervals('inputs.wtid', 'inputs.qmst') AS placed USING (input_no, source, record_no)
    LEFT JOIN lists USING (input_no, source, record_no, block_no)
    GROUP BY placed.system, placed.qmgr, queue, job, start, seconds
),
intervals AS (
    SELECT system, qmgr, object, start, seconds, sum(tasks) AS all_tasks FROM jobs GROUP BY ALL
),
usual AS (
    SELECT system, qmgr, object, job, quantile_cont(get_cpu_us / nullif(get_calls, 0), 0.25) AS usual_get_us
    FROM jobs
    GROUP BY ALL
)
SELECT jobs.*, all_tasks, usual_get_us
FROM jobs
LEFT JOIN intervals AS i
    ON jobs.system = i.system AND jobs.qmgr = i.qmgr AND jobs.object IS NOT DISTINCT FROM i.object
    AND jobs.start = i.start AND jobs.seconds = i.seconds
LEFT JOIN usual AS u
    ON jobs.system = u.system AND jobs.qmgr = u.qmgr AND jobs.object IS NOT DISTINCT FROM u.object
    AND jobs.job = u.job
