-- A buffer pool over all of the input: how much of it was ever in use.
SELECT
    system, qmgr, qpstpool::VARCHAR AS object, '' AS job, min(interval_start) AS start,
    sum(interval_seconds) AS seconds, max(utc_offset) AS utc_offset, max(mq_version) AS mq_version,
    arg_max(qpstnbuf, interval_start) AS buffers,
    100 - min(100 * qpstcbsl::DOUBLE / nullif(qpstnbuf, 0)) AS most_used
FROM inputs.qpst
GROUP BY system, qmgr, qpstpool
