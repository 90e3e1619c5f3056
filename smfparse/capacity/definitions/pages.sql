-- Pages of messages (WTAS), buffer pools (QPST), page sets (QIS1), and the queue that grows most (QQST).
WITH
pools AS (
    SELECT system, qmgr, max(qpstnbuf - qpstcbsl) AS peak_pages FROM qpst GROUP BY ALL
),
sets AS (SELECT system, qmgr, min(qis1unpg) AS free_pages FROM qis1 GROUP BY ALL),
of_tasks AS (
    SELECT
        system, qmgr,
        sum(pages_new) / nullif(sum(messages_put), 0) AS pages_each,
        sum(bytes_put)::DOUBLE / nullif(sum(messages_put), 0) / 1024 AS message_kb
    FROM task
    WHERE messages_put > 0 AND coalesce(messages_got, 0) = 0
    GROUP BY ALL
),
depths AS (
    SELECT
        *,
        (epoch_us(time) - min(epoch_us(time)) OVER (PARTITION BY system, qmgr)) / 1e6 AS since
    FROM qqst
    WHERE coalesce(qqstcfst, '') = ''
),
queues AS (
    SELECT
        system, qmgr, qqstqnam AS queue,
        list([since, qqstdpth::DOUBLE] ORDER BY since, qqstdpth) AS growth,
        arg_max(qqstdpth, (time, qqstdpth)) AS now,
        sum(qqstputs + qqstput1) / nullif(total(interval_seconds), 0) AS arrivals,
        arg_max(qqstdpth, (time, qqstdpth)) - arg_min(qqstdpth, (time, qqstdpth)) AS grown
    FROM depths
    GROUP BY ALL
),
growing AS (
    SELECT
        system, qmgr,
        arg_max({'queue': queue, 'growth': growth, 'now': now, 'arrivals': arrivals}, (grown, queue)) AS most
    FROM queues
    GROUP BY ALL
)
SELECT
    system, qmgr, 'queue ' || most.queue AS about,
    message_kb, pages_each, most.arrivals, peak_pages, most.growth, most.now, free_pages
FROM pools
FULL JOIN sets USING (system, qmgr)
FULL JOIN of_tasks USING (system, qmgr)
FULL JOIN growing USING (system, qmgr)
ORDER BY system, qmgr
