-- The task of a channel initiator that asks for names, in an interval (QCT_DNS).
SELECT
    system, qmgr, '' AS object, '' AS job, interval_start AS start, interval_seconds AS seconds,
    utc_offset, mq_version,
    qctreqn::DOUBLE AS requests, qcteltm AS elapsed,
    busy,
    qctlgdu AS longest, qctlgtm AS longest_at,
    epoch_us(qctlgtm) / 1e6 - epoch_us(interval_start) / 1e6 - coalesce(utc_offset, 0) AS since
FROM dns_task_rows('inputs.qct_dns')
