-- Backouts by job, queue, transaction and interval. The backouts of a record are distributed over the queues of its
-- task in proportion to the gets from each queue, or to the puts if the task has no gets.
WITH
placed AS (FROM task_intervals('inputs.wtid', 'inputs.qmst')),
names AS (
    SELECT input_no, source, record_no, coalesce("transaction", psb) AS "transaction"
    FROM inputs.wtid
    WHERE block_no = 1
),
tasks AS (
    SELECT placed.*, "transaction", backouts, of_source, task_record
    FROM task_figures
    JOIN placed USING (input_no, source, record_no)
    JOIN names USING (input_no, source, record_no)
    WHERE backouts > 0
),
shared AS (
    SELECT
        input_no, of_source, task_record, queue, messages_put AS put,
        coalesce(destructive_gets, messages_got) AS got,
        CASE WHEN sum(got) OVER its > 0 THEN got / sum(got) OVER its ELSE put / nullif(sum(put) OVER its, 0) END AS share
    FROM queue_use_figures
    WINDOW its AS (PARTITION BY input_no, of_source, task_record)
)
SELECT
    system, qmgr, job, queue, "transaction", start, seconds, total(backouts * coalesce(share, 1)) AS backouts
FROM tasks
LEFT JOIN shared USING (input_no, of_source, task_record)
GROUP BY ALL
