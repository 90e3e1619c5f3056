-- Related objects: a page set and its pool; a queue and its page set, pool, structure, and the channels that use it.
SELECT DISTINCT
    system, qmgr, NULL::VARCHAR AS queue, object AS page_set, pool::VARCHAR AS pool, NULL::VARCHAR AS structure,
    NULL::VARCHAR AS channel
FROM page_set_figures
UNION
SELECT
    system, qmgr, object, CASE WHEN NOT shared THEN page_set::VARCHAR END,
    CASE WHEN NOT shared THEN buffer_pool::VARCHAR END, structure, NULL
FROM queue_figures
UNION
SELECT system, qmgr, queue, page_set::VARCHAR, buffer_pool::VARCHAR, structure, nullif(channel, '')
FROM queue_use_figures
LEFT JOIN owners('inputs.wtid') USING (of_source, task_record)
WHERE qtype = 1
