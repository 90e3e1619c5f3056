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
    qpstnbuf::BIGINT AS buffers, 100 * qpstcbsl::DOUBLE / nullif(qpstnbuf, 0) AS free,
    qpstgetp::BIGINT + qpstgetn AS page_gets, qpstrio::BIGINT AS reads, qpsttpw::BIGINT AS pages_written,
    qpstwio::BIGINT AS write_ios, qpstimw::BIGINT AS written_at_once, qpstdwt, qpstdmc, qpstsos,
    qpststl::BIGINT AS steals, qpststla::BIGINT AS steal_changes, qpstloc AS above, qpstf4kb AS fixed,
    checkpoints::BIGINT AS checkpoints, coalesce(page_sets, 1) AS page_sets, busy_page_sets,
    coalesce(max(qpstrio::BIGINT) OVER (
        PARTITION BY system, qmgr, qpstpool ORDER BY interval_start
        ROWS BETWEEN 1 FOLLOWING AND 3 FOLLOWING
    ), 0) AS reads_after,
    list_transform(string_split(mq_version, '.'), lambda each: each::INTEGER) AS release
FROM inputs.qpst
LEFT JOIN checkpoints USING (system, qmgr, interval_start)
LEFT JOIN page_sets USING (system, qmgr, interval_start, qpstpool)
