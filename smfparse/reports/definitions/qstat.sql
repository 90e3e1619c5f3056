-- QSTAT: one row per section and queue (QQST). Values that are zero in partial records (depth, age) come from full
-- records. The smallest and the average message size of several intervals come from intervals with puts.
SELECT
    section, measures_of_queue,
    CASE WHEN NOT is_shared THEN coalesce(measure(queue.page_set)::VARCHAR, 'Unallocated') END AS page_set,
    CASE WHEN NOT is_shared THEN coalesce(measure(queue.buffer_pool)::VARCHAR, 'Unallocated') END AS buffer_pool,
    coalesce(measure(queue.smallest_put), measure(queue.smallest_message)) AS smallest,
    CASE WHEN measure(queue.records) = 1 THEN measure(queue.average_message) ELSE measure(queue.average_put) END AS average
FROM queue_facts('sectioned.qqst')
GROUP BY section, queue, is_shared
