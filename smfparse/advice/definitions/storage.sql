-- Storage of the queue manager in an interval: QSST.
SELECT
    system, qmgr, '' AS object, '' AS job, interval_start AS start, interval_seconds AS seconds, utc_offset,
    mq_version, qsstcrit::BIGINT AS critical, qsstcont::BIGINT AS contractions, qsstabnd::BIGINT AS abends,
    qsstrcnz::BIGINT AS failures, qsstgetm::BIGINT AS getmains
FROM inputs.qsst
