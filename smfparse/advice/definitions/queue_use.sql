-- What the tasks of a job did on a queue in an interval (WQST), and the requests of their gets to the coupling
-- facility. A job's records are counted in the interval of the statistics that has the middle of their own.
WITH
placed AS (
    SELECT * FROM task_intervals('inputs.wtid', 'inputs.qmst')
),
lists AS (
    SELECT
        input_no, source, record_no, block_no,
        sum(CASE WHEN request = 9 THEN cfcount END) AS lists,
        sum(CASE WHEN request IN (11, 12) THEN cfcount END) AS moves
    FROM inputs.wqst_cf
    WHERE verb = 'get'
    GROUP BY ALL
),
uses AS (
    SELECT
        placed.*, queue, in_structure IS NOT NULL AS is_shared,
        indxtype = 0 AS is_plain,
        openn, openct + closect AS open_cpu_us, getn, getct, putn, putct, put1n, put1ct,
        all_browses::DOUBLE AS browses, gets, getsmsg::DOUBLE + getepage AS skipped, getexmsg AS expired, validget, validput,
        coalesce(getdval, greatest(validget::DOUBLE - all_browses, 0)) AS got,
        put_persistent::DOUBLE AS persistent, selcount, streamedn, totlatnt,
        greatest(getmaxms, putmaxms) AS largest, lists, moves
    FROM queue_use_facts('inputs.wqst')
    JOIN placed USING (input_no, source, record_no)
    LEFT JOIN lists USING (input_no, source, record_no, block_no)
)
SELECT
    system, qmgr, queue AS object, job, start, seconds, any_value(utc_offset) AS utc_offset,
    max(mq_version) AS mq_version,
    count(*)::DOUBLE AS tasks,
    sum(tasks) OVER (PARTITION BY system, qmgr, queue, start, seconds) AS all_tasks,
    bool_or(is_transaction) AS is_transaction, bool_or(is_shared) AS is_shared, bool_and(is_plain) AS is_plain,
    sum(openn)::DOUBLE AS opens, total(open_cpu_us) AS open_cpu_us,
    sum(getn)::DOUBLE AS get_calls, total(getct) AS get_cpu_us,
    sum(putn)::DOUBLE AS put_calls, total(putct) AS put_cpu_us,
    sum(put1n)::DOUBLE AS put1_calls, total(put1ct) AS put1_cpu_us,
    total(browses) AS browses, sum(gets)::DOUBLE AS gets_by_id, total(skipped) AS skipped,
    sum(expired)::DOUBLE AS expired,
    sum(validget)::DOUBLE AS found, total(got) AS gets, sum(validput)::DOUBLE AS puts,
    total(persistent) AS persistent, sum(selcount)::DOUBLE AS selectors, sum(streamedn)::DOUBLE AS streamed,
    total(totlatnt) AS time_us, max(largest) AS largest,
    coalesce(sum(lists), 0)::DOUBLE AS lists, coalesce(sum(moves), 0)::DOUBLE AS moves,
    quantile_cont(get_cpu_us / nullif(get_calls, 0), 0.25) OVER (PARTITION BY system, qmgr, queue, job) AS usual_get_us
FROM uses
GROUP BY system, qmgr, queue, job, start, seconds
