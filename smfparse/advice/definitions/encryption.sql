-- The TLS tasks of a channel initiator in an interval (QCT_SSL), and what channels with TLS carried (QCST).
WITH
tasks AS (FROM tls_task_rows('inputs.qct_ssl')),
encryption AS (
    SELECT
        system, qmgr, interval_start AS start, interval_seconds AS seconds,
        any_value(utc_offset) AS utc_offset, any_value(mq_version) AS mq_version,
        count(*) AS tasks, sum(qctreqn)::DOUBLE AS requests,
        total(qcteltm) AS elapsed, total(qctcptm) AS cpu, avg(busy) AS mean_busy, min(busy) AS idlest
    FROM tasks
    GROUP BY system, qmgr, interval_start, interval_seconds
),
carried AS (
    SELECT
        system, qmgr, interval_start AS start,
        total(qcstbyst::DOUBLE + qcstbyrc) AS bytes, count(*) FILTER (qcststrt >= interval_start) AS starts
    FROM inputs.qcst
    WHERE qcstslcs > 0
    GROUP BY ALL
)
SELECT
    system, qmgr, '' AS object, '' AS job, start, seconds, utc_offset, mq_version,
    tasks, requests, elapsed, cpu, mean_busy, idlest,
    coalesce(bytes, 0) AS bytes, coalesce(starts, 0) AS starts,
    15 * requests + 0.005 * coalesce(bytes, 0) + 3400 * coalesce(starts, 0) AS usual_cpu
FROM encryption
LEFT JOIN carried USING (system, qmgr, start)
