-- Pages per message, the fullest buffer pool, the first page set to fill, and the queue with the largest growth.
WITH
pools AS (
    SELECT
        system, qmgr, max(used) AS peak_pages, arg_max(buffer_pool, (used, buffer_pool)) AS pool,
        arg_max(buffers, (used, buffer_pool, time)) AS pool_buffers
    FROM (SELECT *, buffers - lowest_free AS used FROM pool_figures)
    GROUP BY ALL
),
-- New pages are counted per task, not per queue: they are NULL if queues are selected.
of_tasks AS (
    SELECT
        system, qmgr,
        CASE WHEN NOT getvariable('of_queues') THEN sum(pages_new) / nullif(sum(messages_put), 0) END AS pages_each,
        sum(bytes_put)::DOUBLE / nullif(sum(messages_put), 0) / 1024 AS message_kb
    FROM task
    WHERE messages_put > 0 AND coalesce(messages_got, 0) = 0
    GROUP BY ALL
),
depths AS (
    SELECT
        *,
        (epoch_us(time) - min(epoch_us(time)) OVER (PARTITION BY system, qmgr)) / 1e6 AS since,
        -- A queue that grew, and was emptied later, also counts as growing.
        depth - min(depth) OVER (PARTITION BY system, qmgr, queue ORDER BY time) AS risen
    FROM queue_figures
    WHERE structure IS NULL
),
queues AS (
    SELECT
        system, qmgr, queue,
        list([since, depth::DOUBLE] ORDER BY since, depth) AS growth,
        arg_max(depth, (time, depth)) AS now,
        arg_max(page_set, (time, depth)) AS page_set,
        sum(puts) / nullif(total(interval_seconds), 0) AS arrivals,
        max(risen) AS grown
    FROM depths
    GROUP BY ALL
),
growing AS (
    SELECT
        system, qmgr,
        arg_max(
            {'queue': queue, 'growth': growth, 'now': now, 'page_set': page_set, 'arrivals': arrivals},
            (grown, queue)
        ) AS most
    FROM queues
    GROUP BY ALL
),
-- The last three hours determine the growth; all intervals, if three hours contain fewer than ten intervals.
used AS (
    SELECT
        system, qmgr, number AS page_set, free_pages AS free, used::DOUBLE AS pages,
        (epoch_us(time) - max(epoch_us(time)) OVER (PARTITION BY system, qmgr, number)) / 1e6 AS since
    FROM page_set_figures
),
recent AS (
    SELECT *
    FROM used
    QUALIFY since >= -10800 OR count(CASE WHEN since >= -10800 THEN 1 END) OVER (
        PARTITION BY system, qmgr, page_set
    ) < 10
),
sets AS (
    SELECT
        system, qmgr, page_set, list([since, pages] ORDER BY since) AS page_growth,
        arg_max(free, since) AS free_pages, regr_slope(pages, since) AS rate, regr_r2(pages, since) AS fit,
        -- Growth beyond chance, as for the slope of a planner: 90% interval by Student's t, at least ten intervals.
        coalesce(rate > 0 AND count(*) >= 10 AND fit * (count(*) - 2) > 3.46 * (1 - fit), FALSE) AS is_growing
    FROM recent
    GROUP BY ALL
),
-- The page set that is full first; if no page set grows, the page set of the queue, otherwise the page set with the
-- fewest free pages. Page set 0 is last, because it is small by design.
fullest AS (
    SELECT
        system, qmgr,
        arg_min(
            {
                'page_set': sets.page_set, 'growth': page_growth, 'free': free_pages,
                'why': CASE WHEN is_growing THEN 'first to be full'
                    WHEN sets.page_set = most.page_set THEN 'of that queue' ELSE 'fewest free pages' END
            },
            (
                NOT is_growing, CASE WHEN is_growing THEN free_pages / rate ELSE 0 END,
                sets.page_set IS DISTINCT FROM most.page_set, sets.page_set = 0, free_pages, sets.page_set
            )
        ) AS first_full
    FROM sets
    LEFT JOIN growing USING (system, qmgr)
    GROUP BY ALL
)
SELECT
    system, qmgr,
    concat_ws(
        ', ', 'queue ' || most.queue || ' (largest growth)',
        'page set ' || first_full.page_set || ' (' || first_full.why || ')', 'pool ' || pool || ' (highest peak)'
    ) AS about,
    message_kb, pages_each, most.arrivals, peak_pages, pool_buffers, most.growth, most.now,
    first_full.free AS free_pages, first_full.growth AS page_growth
FROM pools
FULL JOIN fullest USING (system, qmgr)
FULL JOIN of_tasks USING (system, qmgr)
FULL JOIN growing USING (system, qmgr)
