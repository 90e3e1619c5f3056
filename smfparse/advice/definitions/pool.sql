-- A buffer pool in an interval, with the checkpoints of the log and the page sets that use the pool.
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
)
SELECT
    rows.*, checkpoints::BIGINT AS checkpoints, coalesce(page_sets, 1) AS page_sets, busy_page_sets,
    coalesce(max(reads) OVER (
        PARTITION BY system, qmgr, buffer_pool ORDER BY start ROWS BETWEEN 1 FOLLOWING AND 3 FOLLOWING
    ), 0) AS reads_after,
    release_of(mq_version) AS release
FROM rows
LEFT JOIN checkpoints USING (system, qmgr, start)
LEFT JOIN page_sets USING (system, qmgr, start, buffer_pool)
