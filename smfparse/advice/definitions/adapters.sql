-- The adapters of a channel initiator in an interval (QCT_ADP), and messages that were streamed (QQST).
WITH
tasks AS (FROM adapter_rows('inputs.qct_adp')),
adapters AS (
    SELECT
        system, qmgr, interval_start AS start, interval_seconds AS seconds,
        any_value(utc_offset) AS utc_offset, any_value(mq_version) AS mq_version,
        count(*) AS adapters, sum(qctreqn)::DOUBLE AS requests,
        total(qcteltm) AS elapsed, total(qctcptm) AS cpu, avg(busy) AS mean_busy,
        max(busy) AS busiest, min(busy) AS idlest, arg_max(busy, block_no) AS last_busy
    FROM tasks
    GROUP BY system, qmgr, interval_start, interval_seconds
),
copied AS (
    SELECT system, qmgr, interval_start AS start, sum(qqststrm)::DOUBLE AS streamed
    FROM inputs.qqst
    GROUP BY ALL
),
together AS (
    SELECT * FROM adapters LEFT JOIN copied USING (system, qmgr, start)
),
usual AS (
    SELECT
        system, qmgr, median(elapsed / cpu) FILTER (cpu > 0) AS usual_stretch,
        median(cpu / requests) FILTER (requests > 0 AND coalesce(streamed, 0) = 0) AS usual_cpu
    FROM together
    GROUP BY system, qmgr
)
SELECT
    system, qmgr, '' AS object, '' AS job, start, seconds, utc_offset, mq_version,
    adapters, requests, elapsed, cpu, mean_busy, busiest, idlest, last_busy, streamed,
    usual_stretch, usual_cpu
FROM together
LEFT JOIN usual USING (system, qmgr)
