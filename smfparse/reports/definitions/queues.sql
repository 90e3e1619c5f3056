-- QUEUES: rates of puts and gets of each queue, and its depth. Messages and bytes come from the queue statistics
-- (QQST), which count all users. If they have no such counts, messages and bytes come from class 3 (WQST).
WITH
statistics AS (
    SELECT
        section, queue,
        try_cast(measure(queue.puts) AS BIGINT) AS puts, try_cast(measure(queue.gets) AS BIGINT) AS gets,
        measure(queue.bytes_put)::DOUBLE AS bytes_put, measure(queue.bytes_got)::DOUBLE AS bytes_got,
        measure(queue.depth) AS depth, greatest(measure(queue.highest_depth), max(full_depth)) AS highest_depth,
        list({'began': epoch_us(interval_start), 'ended': epoch_us(interval_end)})
            FILTER (interval_start <= interval_end) AS spans
    FROM queue_facts('sectioned.qqst')
    GROUP BY ALL
),
accounted AS (
    SELECT
        section, queue, sum(puts)::BIGINT AS puts, sum(gets)::BIGINT AS gets,
        sum(put_bytes) AS bytes_put, sum(get_bytes) AS bytes_got, max(deepest) AS deepest,
        flatten(list(spans)) AS spans
    FROM timed_uses('sectioned.wqst', 'sectioned.wtid', 'sectioned.qcct', 'sectioned.statistics')
    GROUP BY ALL
),
queues AS (
    SELECT
        section, queue,
        CASE WHEN s.puts IS NULL AND a.puts IS NOT NULL THEN 'class 3' ELSE 'QQST' END AS data,
        CASE WHEN data = 'QQST' THEN s.puts ELSE a.puts END AS puts,
        CASE WHEN data = 'QQST' THEN s.gets ELSE a.gets END AS gets,
        CASE WHEN data = 'QQST' THEN s.bytes_put ELSE a.bytes_put END AS bytes_put,
        CASE WHEN data = 'QQST' THEN s.bytes_got ELSE a.bytes_got END AS bytes_got,
        s.depth, coalesce(s.highest_depth, a.deepest) AS highest_depth,
        CASE WHEN data = 'QQST' THEN divisor(q.seconds, s.spans) ELSE divisor(c.seconds, a.spans) END
            AS seconds
    FROM statistics AS s
    FULL JOIN accounted AS a USING (section, queue)
    LEFT JOIN sectioned.queue_time AS q USING (section)
    LEFT JOIN sectioned.covered AS c USING (section)
)
SELECT
    *, TRY_CAST(puts::HUGEINT + gets AS BIGINT) AS messages,
    puts / seconds AS put_rate, gets / seconds AS get_rate,
    bytes_put / seconds AS put_bytes_per_second, bytes_got / seconds AS got_bytes_per_second
FROM queues
WHERE puts > 0 OR gets > 0 OR depth > 0 OR highest_depth > 0
