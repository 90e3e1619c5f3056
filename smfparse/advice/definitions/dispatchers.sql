-- The dispatchers of a channel initiator in an interval (QCT_DSP), and how data was compressed (QCST).
WITH
tasks AS (FROM dispatcher_rows('inputs.qct_dsp')),
dispatchers AS (
    SELECT
        system, qmgr, interval_start AS start, interval_seconds AS seconds,
        any_value(utc_offset) AS utc_offset, any_value(mq_version) AS mq_version,
        count(*) AS dispatchers, sum(qctreqn)::DOUBLE AS requests,
        total(qcteltm) AS elapsed, total(qctcptm) AS cpu, avg(busy) AS mean_busy, max(busy) AS busiest,
        arg_max(block_no - 1, busy) AS number, arg_max(qctreqn, busy)::DOUBLE AS its_requests,
        max(qcteltm) AS its_elapsed, arg_max(qctchln, busy)::DOUBLE AS its_channels,
        sum(qctchln)::DOUBLE AS channels
    FROM tasks
    GROUP BY system, qmgr, interval_start, interval_seconds
),
compressed AS (
    SELECT system, qmgr, interval_start AS start, max(qcstcpra)::DOUBLE AS compression
    FROM inputs.qcst
    GROUP BY ALL
),
usual AS (
    SELECT
        system, qmgr, median(cpu / requests) FILTER (requests > 0) AS usual_cpu,
        max(busiest) AS highest
    FROM dispatchers
    GROUP BY system, qmgr
)
SELECT
    system, qmgr, '' AS object, '' AS job, start, seconds, utc_offset, mq_version,
    dispatchers, requests, elapsed, cpu, mean_busy, busiest, number, its_requests, its_elapsed, its_channels,
    channels, usual_cpu, highest, coalesce(compression, 0) AS compression
FROM dispatchers
LEFT JOIN compressed USING (system, qmgr, start)
LEFT JOIN usual USING (system, qmgr)
