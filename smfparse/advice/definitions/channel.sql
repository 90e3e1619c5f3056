-- A channel in an interval: all its instances (QCST), with the dispatcher of the busiest of them (QCT_DSP).
WITH
instances AS (
    SELECT
        system, qmgr, qcstchnm AS object, interval_start AS start, interval_seconds AS seconds,
        utc_offset, mq_version, qcstchty, qcstnmsg::DOUBLE AS its_messages, qcstnpmg, qcstbatc::DOUBLE AS its_batches,
        qcstfuba, qcstcbsz, qcstnbyt, qcstcscv, qcstslcs, qcstcpra, qcstptrc, qcstqetc, qcstdspn,
        qcstntav, qcstntmx, qcstntdt, qcstetav,
        qcststrt >= interval_start AS is_new,
        active_seconds AS active
    FROM channel_rows('inputs.qcst')
),
channels AS (
    SELECT
        system, qmgr, object, start, seconds,
        any_value(utc_offset) AS utc_offset, any_value(mq_version) AS mq_version,
        max(qcstchty) = 7 AS is_client, bool_or(qcstchty IN (1, 2, 9)) AS sends,
        count(*) AS instances, count(*) FILTER (is_new) AS starts,
        total(its_messages) AS messages, sum(qcstnpmg)::DOUBLE AS persistent, total(its_batches) AS batches,
        sum(qcstfuba)::DOUBLE AS full_batches, max(qcstcbsz)::DOUBLE AS batch_size,
        sum(qcstnbyt)::DOUBLE AS bytes, sum(qcstcscv)::DOUBLE AS conversations,
        max(qcstslcs)::DOUBLE AS cipher, max(qcstcpra)::DOUBLE AS compression,
        sum(qcstptrc)::DOUBLE AS retries, sum(qcstqetc)::DOUBLE AS empty,
        arg_max(qcstdspn, its_messages) AS dispatcher,
        total(its_batches * qcstntav) AS confirm_us, confirm_us / nullif(batches, 0) AS nettime,
        max(qcstntmx)::DOUBLE AS longest_us, arg_max(qcstntdt, qcstntmx) AS longest_at,
        max(qcstetav)::DOUBLE AS exit_us, total(its_messages * qcstetav) AS exits_us,
        total(active) AS active
    FROM instances
    GROUP BY system, qmgr, object, start, seconds
),
usual AS (
    SELECT system, qmgr, object, median(nettime) AS usual
    FROM channels
    GROUP BY system, qmgr, object
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
    SELECT *, rank() OVER (PARTITION BY system, qmgr, start ORDER BY messages DESC) AS place
    FROM channels
)
SELECT
    system, qmgr, object, '' AS job, start, seconds, utc_offset, mq_version,
    is_client, sends, instances, starts, messages, persistent, batches, full_batches, batch_size, bytes,
    conversations, cipher, compression, retries, empty, confirm_us, nettime, usual, longest_us, longest_at,
    exit_us, exits_us, active, dispatcher, dispatcher_busy, dispatchers_us, dispatchers_cpu, requests,
    place <= 5 AND messages > 0 AS is_busy,
    count(*) FILTER (place <= 5 AND messages > 0)
        OVER (PARTITION BY system, qmgr, start, dispatcher) AS busy_channels
FROM ranked
LEFT JOIN usual USING (system, qmgr, object)
LEFT JOIN dispatchers USING (system, qmgr, start, dispatcher)
LEFT JOIN all_dispatchers USING (system, qmgr, start)
