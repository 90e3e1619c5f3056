-- Log, puts, adapters, pages and accounting; and the share of puts to queues that match a pattern.
WITH
puts AS (SELECT * FROM puts_of_managers('wqst')),
streams AS (
    SELECT
        system, qmgr,
        100 * sum(validput) FILTER (queue_of(objname, basename) GLOB getvariable('streaming'))
            / nullif(sum(validput), 0) AS share
    FROM wqst
    GROUP BY ALL
),
adapters AS (
    SELECT system, qmgr, total(elapsed) / 1e4 / nullif(total(interval_seconds), 0) AS busy
    FROM chinit_task
    WHERE kind = 'adapter'
    GROUP BY ALL
),
calls AS (SELECT system, qmgr, sum(calls)::BIGINT AS calls FROM task GROUP BY ALL),
tasks AS (
    SELECT
        system, qmgr, median(interval_seconds) AS length, count(*) AS records,
        sum(wtasgpn)::BIGINT AS pages, covered(time, interval_seconds) AS seconds
    FROM wtas
    GROUP BY ALL
),
bytes AS (
    SELECT system, qmgr, sum(length)::BIGINT AS bytes
    FROM record
    WHERE type = 116 AND subtype IN (1, 2)
    GROUP BY ALL
)
SELECT
    system, qmgr,
    coalesce(share, 0) AS share,
    mb_s, pages_an_io AS pages, io_busy, l.busy,
    p.bytes / nullif(p.messages, 0) / 1024 AS message_kb,
    p.cpu / nullif(p.calls, 0) AS put_cost,
    p.messages / nullif(p.seconds, 0) AS puts_s,
    a.busy AS adapter_busy,
    t.pages / nullif(t.seconds, 0) AS pages_s,
    round(t.records * t.length / nullif(t.seconds, 0))::BIGINT AS tasks,
    t.length AS interval,
    b.bytes / nullif(t.records, 0) AS record_bytes,
    c.calls / nullif(t.seconds, 0) AS calls_a_second
FROM log_rates('qjst', 'qjst_io') AS l
FULL JOIN puts AS p USING (system, qmgr)
FULL JOIN streams USING (system, qmgr)
FULL JOIN adapters AS a USING (system, qmgr)
FULL JOIN calls AS c USING (system, qmgr)
FULL JOIN tasks AS t USING (system, qmgr)
FULL JOIN bytes AS b USING (system, qmgr)
WHERE mb_s > 0 OR p.messages > 0
ORDER BY system, qmgr
