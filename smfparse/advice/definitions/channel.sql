-- A channel in an interval: all its instances, with the dispatcher of the busiest of them (QCT_DSP).
WITH
channels AS (
    SELECT
        system, qmgr, object, '' AS job, start, seconds,
        any_value(utc_offset) AS utc_offset, any_value(mq_version) AS mq_version,
        max(qcstchty) = 7 AS is_client, bool_or(qcstchty IN (1, 2, 9)) AS sends,
        count(*) AS instances, count(*) FILTER (qcststrt >= start) AS starts,
        total(qcstnmsg) AS messages, total(qcstnpmg) AS persistent, total(qcstbatc) AS batches,
        total(qcstfuba) AS full_batches, max(qcstcbsz)::DOUBLE AS batch_size,
        total(qcstnbyt) AS bytes, total(qcstcscv) AS conversations,
        max(qcstslcs)::DOUBLE AS cipher, max(qcstcpra)::DOUBLE AS compression,
        total(qcstptrc) AS retries, total(qcstqetc) AS empty,
        arg_max(qcstdspn, qcstnmsg) AS dispatcher,
        total(qcstbatc::DOUBLE * qcstntav) AS confirm_us, confirm_us / nullif(batches, 0) AS nettime,
        max(qcstntmx)::DOUBLE AS longest_us, arg_max(qcstntdt, qcstntmx) AS longest_at,
        max(qcstetav)::DOUBLE AS exit_us, total(qcstnmsg::DOUBLE * qcstetav) AS exits_us,
        bool_or(qcstchst = 5) AS retrying, any_value(qcstrqmn) AS partner, max(qcstlmst) AS last_message,
        -- The most frequent; of several, the first by name.
        list_min(list_transform(
            map_entries(histogram(qcstcnnm) FILTER (qcststrt >= start)),
            lambda each: {'rest': -each.value::BIGINT, 'name': each.key}
        ))['name'] AS peer,
        total(active_seconds) AS active
    FROM rows
    GROUP BY system, qmgr, object, start, seconds
),
dispatchers AS (
    SELECT
        system, qmgr, interval_start AS start, block_no - 1 AS dispatcher,
        max(busy) AS dispatcher_busy
    FROM dispatcher_rows('inputs.qct_dsp')
    GROUP BY ALL
),
all_dispatchers AS (
    SELECT
        system, qmgr, interval_start AS start, total(qcteltm) AS dispatchers_us, total(qctcptm) AS dispatchers_cpu,
        sum(qctreqn)::DOUBLE AS requests
    FROM inputs.qct_dsp
    GROUP BY ALL
),
ranked AS (
    SELECT
        *, quantile_cont(nettime, 0.25) OVER (PARTITION BY system, qmgr, object) AS usual,
        rank() OVER (PARTITION BY system, qmgr, start ORDER BY messages DESC) <= 5 AND messages > 0 AS is_busy
    FROM channels
)
SELECT
    *, count(*) FILTER (is_busy) OVER (PARTITION BY system, qmgr, start, dispatcher) AS busy_channels
FROM ranked
LEFT JOIN dispatchers USING (system, qmgr, start, dispatcher)
LEFT JOIN all_dispatchers USING (system, qmgr, start)
