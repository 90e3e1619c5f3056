-- A buffer pool in an interval: QPST, with the checkpoints of the log and the page sets that use the pool.
WITH
checkpoints AS (
    SELECT system, qmgr, interval_start, max(qjstllcp) AS checkpoints
    FROM inputs.qjst
    GROUP BY ALL
),
page_sets AS (
    SELECT
        system, qmgr, interval_start, qis1bpno AS qpstpool, count(DISTINCT qis1psno) AS page_sets,
        count(DISTINCT CASE
            WHEN qis1dwpp::BIGINT + qis1imwp + qis1getp + qis1ckpp >= 1000 THEN qis1psno
        END) AS busy_page_sets
    FROM inputs.qis1
    GROUP BY ALL
)
SELECT
    system, qmgr, qpstpool::VARCHAR AS object, '' AS job, interval_start AS start,
    interval_seconds AS seconds, utc_offset, mq_version,
    qpstnbuf AS buffers, qpstcbsl AS least_free, 100 * qpstcbsl / nullif(qpstnbuf, 0) AS free,
    qpstgetp::BIGINT + qpstgetn AS page_gets, qpstrio AS reads, qpsttpw AS pages_written,
    qpstwio AS write_ios, qpstimw AS written_at_once, qpstdwt, qpstdmc, qpstsos,
    qpststl AS steals, qpststla AS steal_changes, qpstloc AS above, qpstf4kb AS fixed,
    checkpoints, coalesce(page_sets, 1) AS page_sets, busy_page_sets,
    coalesce(max(qpstrio) OVER (
        PARTITION BY system, qmgr, qpstpool ORDER BY interval_start
        ROWS BETWEEN 1 FOLLOWING AND 3 FOLLOWING
    ), 0) AS reads_after,
    list_transform(string_split(mq_version, '.'), lambda each: each::INTEGER) AS release
FROM inputs.qpst
LEFT JOIN checkpoints USING (system, qmgr, interval_start)
LEFT JOIN page_sets USING (system, qmgr, interval_start, qpstpool)
