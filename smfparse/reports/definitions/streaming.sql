-- STREAMING: the use and cost of streaming queues. `line` is the kind of line of a row:
--   queue          puts to a queue, and the messages that they generated (WQST); pages by task (WTAS)
--   cost           the cost of a verb on a streamed queue, with streaming and without
--   topic          messages of publish/subscribe, by the application or by streaming
--   stream         a stream queue in queue statistics (QQST)
--   queue manager  counts of the queue manager (QIST, QMST), and of class 3
--   plan           the cost if a queue were streamed, from the planner streaming
--   log, adapters  use of the log and of adapters, and their spare capacity (QJST, QCT_ADP)
-- The cost of streaming is computed over the whole input, because it compares intervals with streaming and without,
-- which can be in different sections.
WITH
pairs AS (
    SELECT each.base, each.stream
    FROM (
        SELECT unnest(getvariable('stream')::STRUCT(base VARCHAR, stream VARCHAR)[]) AS each
    )
),
used_rows AS (
    SELECT
        *,
        CASE WHEN coalesce(cfstrucname, '') = '' THEN 'private' ELSE 'shared' END AS kind,
        putn::BIGINT + put1n AS puts,
        CASE WHEN puts >= validput THEN puts - validput END AS failed,
        coalesce(ftopic, false) OR coalesce(qtype = 8, false)
            OR coalesce(qtype = 3 AND publishedn > 0 AND coalesce(streamedn, 0) = 0, false)
            AS of_topic,
        CASE WHEN of_topic THEN 'publish' WHEN publishedn > 0 THEN 'stream to topic alias' END
            AS published_by,
        CASE WHEN published_by = 'stream to topic alias' THEN true ELSE streamedn > 0 END
            AS streams
    FROM sectioned.wqst
    WHERE puts > 0 OR streamedn > 0
),
used AS (FROM queue_use_facts('used_rows')),
used_queues AS (FROM used WHERE NOT of_topic),
tasks AS (
    SELECT
        of_source, task_record, any_value(queue) AS queue, any_value(kind) AS kind,
        sum(puts) AS puts, bool_or(streams) AS streams
    FROM used
    GROUP BY ALL
    HAVING count(DISTINCT (queue, kind)) = 1 AND NOT bool_or(of_topic)
),
putters AS (
    SELECT
        w.section, w.system, w.qmgr, t.queue, t.kind, t.puts, t.streams, pages, commit_call
    FROM commits_of_tasks('sectioned.wtas') AS w
    JOIN tasks AS t USING (of_source, task_record)
    -- If queues are selected, the puts of a task to other queues are missing.
    WHERE NOT getvariable('of_queues')
),
pages_with AS (
    SELECT
        section, queue, kind,
        sum(pages) / nullif(sum(puts), 0) AS pages_per_put,
        sum(pages) FILTER (streams) / nullif(sum(puts) FILTER (streams), 0) AS pages_with
    FROM putters
    GROUP BY ALL
),
pages_without AS (
    SELECT system, qmgr, queue, kind, sum(pages) / nullif(sum(puts), 0) AS pages_without
    FROM putters
    WHERE NOT streams
    GROUP BY ALL
),
queues AS (
    SELECT
        section, system, qmgr, queue, kind,
        sum(puts)::BIGINT AS puts, sum(failed)::BIGINT AS failed,
        sum(puts - coalesce(failed, 0))::BIGINT AS done,
        sum(streamedn)::BIGINT AS streamed,
        bool_and(streams IS NOT NULL) AS known,
        sum(CASE WHEN publishedn > 0 THEN publishedn ELSE streamedn END)::BIGINT AS copies,
        measure(queue_use.put_size) AS put_size
    FROM used_queues
    GROUP BY ALL
),
calls AS (
    SELECT section, system, qmgr, queue, kind, streams, verb, calls, cpu, elapsed
    FROM calls_of_queues('used_rows')
    WHERE NOT of_topic AND verb IN ('open', 'close', 'put', 'put1') AND calls > 0
    UNION ALL
    SELECT section, system, qmgr, queue, kind, streams, 'commit', commit_call.calls, commit_call.cpu, commit_call.elapsed
    FROM putters
    WHERE commit_call.calls > 0
),
streaming AS (
    SELECT section, system, qmgr, queue, kind, verb, unnest(call_sums(calls, elapsed, cpu))
    FROM calls
    WHERE streams
    GROUP BY section, system, qmgr, queue, kind, verb
),
plain AS (
    SELECT system, qmgr, queue, kind, verb, unnest(call_sums(calls, elapsed, cpu))
    FROM calls
    WHERE NOT streams
    GROUP BY system, qmgr, queue, kind, verb
),
sizes AS (
    SELECT
        system, qmgr, queue, kind, bool_or(streams) AS streamed,
        2 * measure(queue_use.persistent_put) > sum(validput) AS persistent,
        ceil(log2(greatest(measure(queue_use.put_size), 1)))::INTEGER AS band
    FROM used_queues
    GROUP BY ALL
),
others AS (
    SELECT system, qmgr, kind, persistent, band, verb, unnest(call_sums(calls, elapsed, cpu))
    FROM calls
    JOIN sizes USING (system, qmgr, queue, kind)
    WHERE NOT streams AND NOT streamed
    GROUP BY system, qmgr, kind, persistent, band, verb
),
costs AS (
    SELECT
        w.section, w.queue, w.kind, w.verb, q.streamed,
        CASE
            WHEN p.calls > 0 THEN 'same queue'
            WHEN o.calls > 0 THEN format(
                'other {} queues, {}-{} bytes{}',
                w.kind, CASE WHEN s.band = 0 THEN 0 ELSE (2 ** (s.band - 1))::BIGINT + 1 END,
                (2 ** s.band)::BIGINT, CASE WHEN s.persistent THEN ', persistent' ELSE '' END
            )
            ELSE 'none'
        END AS compared_with,
        w.calls AS calls_with, coalesce(p.calls, o.calls) AS calls_without,
        w.call_cpu AS cpu_with, w.call_elapsed AS elapsed_with,
        coalesce(p.call_cpu, o.call_cpu) AS cpu_without, coalesce(p.call_elapsed, o.call_elapsed) AS elapsed_without
    FROM streaming AS w
    JOIN queues AS q USING (section, system, qmgr, queue, kind)
    LEFT JOIN plain AS p USING (system, qmgr, queue, kind, verb)
    LEFT JOIN sizes AS s USING (system, qmgr, queue, kind)
    LEFT JOIN others AS o
        ON o.system = w.system AND o.qmgr = w.qmgr AND o.kind = w.kind AND o.verb = w.verb
        AND o.band = s.band AND o.persistent = s.persistent
),
topics AS (
    SELECT
        section, queue, published_by,
        sum(puts)::BIGINT AS puts, sum(publishedn)::BIGINT AS published,
        sum(puts - coalesce(failed, 0))::BIGINT AS done,
        measure(queue_use.cpu_per_put) AS put_cpu,
        total(topicputsrb + topicput1srb) / nullif(sum(puts), 0) AS put_srb
    FROM used
    WHERE published_by IS NOT NULL
    GROUP BY ALL
    HAVING sum(publishedn) > 0
),
statistics AS (
    SELECT
        section, system, qmgr, queue,
        try_cast(measure(queue.puts) AS BIGINT) AS puts, try_cast(measure(queue.failed_puts) AS BIGINT) AS failed,
        try_cast(measure(queue.streamed) AS BIGINT) AS statistics_streamed,
        try_cast(measure(queue.messages_expired) AS BIGINT) AS expired,
        measure(queue.puts_per_second) AS put_rate,
        arg_min(full_depth, sequence) AS depth_first, measure(queue.depth) AS depth_last,
        max(coalesce(time, smf_time::TIMESTAMPTZ)) FILTER (full_depth IS NOT NULL) AS taken_last,
        min(coalesce(time, smf_time::TIMESTAMPTZ)) FILTER (full_depth IS NOT NULL) AS taken_first,
        3600 * (depth_last::BIGINT - depth_first) / nullif(epoch_us(taken_last) / 1e6 - epoch_us(taken_first) / 1e6, 0)
            AS depth_growth,
        coalesce(measure(queue.lowest_depth) FILTER (full_depth IS NOT NULL), min(full_depth)) AS depth_lowest,
        coalesce(measure(queue.highest_depth) FILTER (full_depth IS NOT NULL), max(full_depth)) AS depth_highest,
        depth_lowest / nullif(put_rate, 0) / 60 AS arrivals_lowest,
        depth_last / nullif(put_rate, 0) / 60 AS arrivals_last,
        depth_highest / nullif(put_rate, 0) / 60 AS arrivals_highest
    FROM queue_facts('sectioned.qqst')
    GROUP BY section, system, qmgr, queue
),
put_to AS (
    SELECT DISTINCT system, qmgr, unnest([objname, basename]) AS queue FROM used
),
seen AS (
    SELECT section, queue, statistics_streamed AS streamed FROM statistics
    UNION
    SELECT section, queue, streamed FROM queues
),
bases AS (
    SELECT section, streamed AS puts, any_value(queue) AS base
    FROM seen
    WHERE streamed > 0
    GROUP BY ALL
    HAVING count(DISTINCT queue) = 1
),
stream_queues AS (
    SELECT seen.section, pairs.base, pairs.stream AS queue, NULL AS note
    FROM seen
    JOIN pairs ON seen.queue IN (pairs.base, pairs.stream)
    GROUP BY ALL
    UNION ALL
    SELECT
        s.section, b.base, s.queue,
        CASE
            WHEN b.base IS NULL THEN 'candidate: puts in statistics, none by tasks in class 3'
            ELSE 'candidate: as many puts as its base streamed, none by tasks in class 3'
        END
    FROM (FROM statistics ANTI JOIN put_to USING (system, qmgr, queue)) AS s
    LEFT JOIN bases AS b
        ON b.section = s.section AND b.puts = s.puts AND b.base <> s.queue
    WHERE s.puts > 0
        AND (s.system, s.qmgr) IN (SELECT (system, qmgr) FROM put_to)
        AND NOT EXISTS (FROM pairs)
),
streams AS (
    SELECT
        n.section, n.base, n.queue, s.* EXCLUDE (section, system, qmgr, queue, statistics_streamed, taken_first, taken_last),
        c.streamed, b.statistics_streamed,
        CASE
            WHEN n.note IS NOT NULL THEN n.note
            WHEN s.queue IS NULL THEN 'no statistics of it: TRACE(STAT) CLASS(5) and STATQ(ON)'
            WHEN s.puts IS NULL THEN 'puts are in statistics from 9.3.3 on'
        END AS note
    FROM stream_queues AS n
    LEFT JOIN statistics AS s ON s.section = n.section AND s.queue = n.queue
    LEFT JOIN statistics AS b ON b.section = n.section AND b.queue = n.base
    LEFT JOIN (
        SELECT section, queue, sum(streamed)::BIGINT AS streamed FROM queues GROUP BY ALL
    ) AS c ON c.section = n.section AND c.queue = n.base
),
-- Queues that are not streamed, with the inputs of the planner. The log bytes of a queue are estimated from its share
-- of the bytes of all persistent messages.
unstreamed AS (
    SELECT
        section, queue, kind,
        sum(validput) / divisor(any_value(c.seconds), list(known_part(
            task_span(interval_start, interval_end, task_started_tod), known_since
        )) FILTER (interval_start <= interval_end)) AS class_3_rate,
        measure(queue_use.put_size) / 1024 AS put_kb, measure(queue_use.cpu_per_put) AS put_cpu,
        measure(queue_use.persistent_bytes) AS persistent_bytes
    FROM used_queues
    LEFT JOIN sectioned.covered AS c USING (section)
    LEFT JOIN first_statistics('sectioned.statistics') USING (system, qmgr)
    GROUP BY section, queue, kind
    HAVING NOT coalesce(bool_or(streams), FALSE) AND sum(validput) > 0
),
log AS (
    SELECT
        section, measure(log.mb_per_second) AS mb_per_second, measure(log.pages_per_write) AS pages_per_write,
        measure(log.io_busy) AS io_busy, measure(log.task_busy) AS task_busy
    FROM log_facts('sectioned.qjst', 'sectioned.qjst_io')
    GROUP BY section
),
plans AS (
    SELECT
        u.* EXCLUDE (persistent_bytes),
        CASE
            WHEN NOT getvariable('of_queues')
            THEN mb_per_second * u.persistent_bytes / nullif(p.persistent_bytes, 0)
        END AS persistent_log,
        NULL::DOUBLE AS planned_put_cpu, NULL::DOUBLE AS planned_cpu, NULL::DOUBLE AS planned_log,
        NULL::DOUBLE AS planned_pages,
        CASE WHEN put_kb > 128 THEN 'published up to 128 KB only' END AS note
    FROM unstreamed AS u
    LEFT JOIN (
        SELECT section, measure(queue_use.persistent_bytes) AS persistent_bytes FROM used GROUP BY section
    ) AS p USING (section)
    LEFT JOIN log USING (section)
),
class_3 AS (
    SELECT
        section, sum(putn::BIGINT + put1n)::BIGINT AS puts, sum(publishedn)::BIGINT AS published,
        sum(ngen)::BIGINT AS generated, measure(queue_use.put_to_waiting_getter) AS to_getter,
        sum(streamedn)::BIGINT AS streamed
    FROM sectioned.wqst
    GROUP BY section
),
lines AS (
    SELECT
        'queue' AS line, section, queue, kind, puts, failed, streamed,
        100 * streamed / nullif(done, 0) AS streamed_share,
        CASE WHEN known THEN done + copies END AS messages,
        put_size, pages_per_put, pages_with,
        CASE WHEN pages_with IS NOT NULL THEN pages_without END AS pages_without,
        CASE
            WHEN streamed IS NULL
                THEN 'not visible in class 3 before 9.3.2: use smfparse compare'
            WHEN NOT known
                THEN 'some puts are of MQ before 9.3.2, where streaming is not visible in class 3'
            WHEN streamed > 0 AND streamed < done
                THEN 'not all were streamed: STREAMQ set for a time only, or BESTEF and the stream queue full'
        END AS note
    FROM queues
    LEFT JOIN pages_with USING (section, queue, kind)
    LEFT JOIN pages_without USING (system, qmgr, queue, kind)
    UNION ALL BY NAME
    SELECT
        'cost' AS line, *,
        cpu_with - cpu_without AS cpu_overhead, cpu_with / nullif(cpu_without, 0) AS cpu_factor,
        elapsed_with - elapsed_without AS elapsed_overhead,
        elapsed_with / nullif(elapsed_without, 0) AS elapsed_factor
    FROM costs
    UNION ALL BY NAME
    SELECT
        'topic' AS line, section, queue, published_by, puts, published,
        published / nullif(puts, 0) AS subscribers,
        CASE published_by WHEN 'publish' THEN published ELSE done + published END AS messages,
        put_cpu, put_srb
    FROM topics
    UNION ALL BY NAME
    SELECT 'stream' AS line, * FROM streams
    UNION ALL BY NAME
    SELECT
        'queue manager' AS line, section, c.puts, c.published, c.generated, c.to_getter, c.streamed,
        statistics_streamed, data_manager_puts, message_manager_puts,
        CASE WHEN NOT has_longer_tasks(marks) THEN data_manager_puts - c.puts END AS data_manager_excess,
        CASE WHEN NOT has_longer_tasks(marks) THEN message_manager_puts - c.puts END AS message_manager_excess,
        CASE
            WHEN has_longer_tasks(marks)
                THEN 'intervals of class 3 are longer than the section: use --interval with their length (ACCTIME)'
            WHEN c.puts IS NULL THEN 'no class 3 in this section: START TRACE(ACCTG) CLASS(3), or a longer --interval'
            WHEN coalesce(data_manager_puts, message_manager_puts) IS NULL THEN 'no class 1: START TRACE(STAT) CLASS(1)'
            ELSE 'an estimate: class 3 of all tasks for the same time makes it good'
        END AS note
    FROM sectioned.keys
    LEFT JOIN class_3 AS c USING (section)
    LEFT JOIN (
        SELECT section, measure(data_manager.puts)::BIGINT AS data_manager_puts
        FROM sectioned.qist
        GROUP BY section
    ) USING (section)
    LEFT JOIN (
        SELECT section, measure(message_manager.puts) AS message_manager_puts FROM sectioned.qmst GROUP BY section
    ) USING (section)
    LEFT JOIN (
        SELECT section, try_cast(sum(statistics_streamed) AS BIGINT) AS statistics_streamed
        FROM statistics
        GROUP BY section
    ) USING (section)
    WHERE NOT getvariable('of_queues')
        AND coalesce(c.puts, data_manager_puts, message_manager_puts, statistics_streamed) IS NOT NULL
    UNION ALL BY NAME
    SELECT 'plan' AS line, * FROM plans
    UNION ALL BY NAME
    SELECT
        'log' AS line, *, 128 - pages_per_write AS pages_left, 100 - io_busy AS io_left, 100 - task_busy AS task_left,
        CASE
            WHEN pages_per_write >= 100
                THEN 'near 128 pages an I/O: faster DASD, zHyperWrite, or a second queue manager'
            WHEN task_busy >= 95
                THEN 'full for this workload; with more pages an I/O it can still take more'
            WHEN task_busy IS NULL THEN 'QJST shows how busy it is from MQ 8.0 on'
        END AS note
    FROM log
    UNION ALL BY NAME
    SELECT
        'adapters' AS line, section, tasks AS adapters, busy AS adapter_busy,
        busiest AS adapter_busiest, last AS adapter_last,
        CASE
            WHEN last > 50 OR busy > 50
                THEN 'they do the streamed puts of channels as well: raise CHIADAPS'
            WHEN idlest >= 1 THEN 'all are in use; more may help: CHIADAPS'
            ELSE 'enough: they do the streamed puts of channels as well'
        END AS note
    FROM (SELECT section, measure(adapter.busy) AS busy FROM sectioned.qct_adp GROUP BY section)
    JOIN (
        SELECT
            section, count(*) AS tasks, min(busy) AS idlest, max(busy) AS busiest,
            arg_max(busy, block_no) AS last
        FROM (SELECT section, block_no, measure(adapter.busy) AS busy FROM sectioned.qct_adp GROUP BY section, block_no)
        GROUP BY section
    ) USING (section)
)
SELECT
    *,
    list_position(
        ['queue', 'cost', 'topic', 'stream', 'queue manager', 'plan', 'log', 'adapters'], line
    ) AS part,
    list_position(['open', 'close', 'put', 'put1', 'commit'], verb) AS verb_order
FROM lines
