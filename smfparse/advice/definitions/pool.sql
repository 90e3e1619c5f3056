-- A buffer pool in an interval: QPST, with the checkpoints of the log and the page sets that use the pool.
WITH
checkpoints AS (
    SELECT system, qmgr, interval_start AS start, max(qjstllcp) AS checkpoints
    FROM inputs.qjst
    GROUP BY ALL
),
page_sets AS (
    SELECT
        system, qmgr, interval_start AS start, qis1bpno AS qpstpool, count(DISTINCT qis1psno) AS page_sets,
        count(DISTINCT CASE
            WHEN qis1dwpp::BIGINT + qis1imwp + qis1getp + qis1ckpp >= 1000 THEN qis1psno
        END) AS busy_page_sets
    FROM inputs.qis1
    GROUP BY ALL
)
SELECT
    rows.*, checkpoints::BIGINT AS checkpoints, coalesce(page_sets, 1) AS page_sets, busy_page_sets,
    coalesce(max(qpstrio::BIGINT) OVER (
        PARTITION BY system, qmgr, qpstpool ORDER BY start ROWS BETWEEN 1 FOLLOWING AND 3 FOLLOWING
    ), 0) AS reads_after,
    list_transform(string_split(mq_version, '.'), lambda each: each::INTEGER) AS release
FROM rows
LEFT JOIN checkpoints USING (system, qmgr, start)
LEFT JOIN page_sets USING (system, qmgr, start, qpstpool)
