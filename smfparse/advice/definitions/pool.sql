-- A buffer pool in an interval, with the checkpoints of the log and the page sets that use the pool. `stored_pages`:
-- a lower bound of the pages that the messages on its queues required at one moment, in the pool or on page sets.
WITH
checkpoints AS (
    SELECT system, qmgr, interval_start AS start, max(checkpoints) AS checkpoints
    FROM log_figures
    GROUP BY ALL
),
page_sets AS (
    SELECT
        system, qmgr, interval_start AS start, pool AS buffer_pool, count(DISTINCT object) AS page_sets,
        count(DISTINCT CASE WHEN moved_pages >= 1000 THEN object END) AS busy_page_sets
    FROM page_set_figures
    GROUP BY ALL
),
-- Messages on queues: the depth in queue statistics; from class 3, puts per second times the average time on the queue.
queues AS (
    SELECT
        system, qmgr, buffer_pool, interval_start AS start, depth, highest_depth,
        sum(bytes_put) OVER its / sum(puts) OVER its AS size
    FROM queue_figures
    WHERE NOT shared
    WINDOW its AS (PARTITION BY system, qmgr, object)
    UNION ALL BY NAME
    SELECT
        placed.system, placed.qmgr, buffer_pool, start, sum(bytes_got) / sum(messages_got) AS size,
        sum(messages_put) / seconds * total(time_on_queue_average_amount) / 1e6 / sum(time_on_queue_average_per)
            AS waiting
    FROM queue_use_figures
    JOIN task_intervals('inputs.wtid', 'inputs.qmst') AS placed USING (input_no, source, record_no)
    WHERE structure IS NULL
    GROUP BY placed.system, placed.qmgr, queue, buffer_pool, start, seconds
),
stored AS (
    SELECT
        system, qmgr, buffer_pool, start,
        greatest(sum(depth * pages), max(highest_depth * pages), total(waiting * pages)) AS stored_pages
    FROM (SELECT *, CASE WHEN coalesce(size, 0) <= 3596 THEN 1 ELSE 1 + ceil(size / 4049) END AS pages FROM queues)
    GROUP BY ALL
)
SELECT
    rows.*, stored_pages, checkpoints::BIGINT AS checkpoints, coalesce(page_sets, 1) AS page_sets, busy_page_sets,
    coalesce(max(reads) OVER (
        PARTITION BY system, qmgr, buffer_pool ORDER BY start, sequence ROWS BETWEEN 1 FOLLOWING AND 3 FOLLOWING
    ), 0) AS reads_after,
    release_of(mq_version) AS release
FROM rows
LEFT JOIN checkpoints USING (system, qmgr, start)
LEFT JOIN page_sets USING (system, qmgr, start, buffer_pool)
LEFT JOIN stored USING (system, qmgr, start, buffer_pool)
