-- Messages of a queue manager in an interval: what applications asked for (QMST), what was done for it (QIST),
-- publications (QTST), and from class 3 the gets that the message manager does not count: those of callbacks.
WITH
of_tasks AS (
    SELECT
        placed.system, placed.qmgr, start AS interval_start, sum(getn)::BIGINT AS gets_of_tasks,
        sum(ngen)::BIGINT AS generated
    FROM inputs.wqst
    JOIN task_intervals('inputs.wtid', 'inputs.qist') AS placed USING (input_no, source, record_no)
    WHERE is_inside
    GROUP BY ALL
),
topics AS (
    SELECT
        system, qmgr, interval_start,
        max(publishes) AS publishes, max(qtstpnos)::BIGINT AS unread,
        max(qtstetto) AS publish_us, max(qtstethw) AS longest_us,
        max(qtsttmsg)::BIGINT AS publications, max(qtstsphw) AS subscribers, max(qtstsexp)::BIGINT AS expired
    FROM topic_rows('inputs.qtst')
    GROUP BY ALL
),
locks AS (
    SELECT system, qmgr, interval_start, max(qlstgetl)::BIGINT AS locks, max(qlsthldl)::BIGINT AS held
    FROM inputs.qlst
    GROUP BY ALL
)
SELECT
    d.system, d.qmgr, '' AS object, '' AS job, interval_start AS start, d.interval_seconds AS seconds,
    d.utc_offset, d.mq_version,
    qmstget::BIGINT AS gets, qistmget::BIGINT AS searched, gets_of_tasks,
    greatest(gets, coalesce(gets_of_tasks, 0)) AS known_gets,
    puts, qistmput::BIGINT AS stored, generated,
    qistgetd::BIGINT AS from_disk, qistgetb::BIGINT + qistgetd AS found, qistdcre::BIGINT AS created,
    publishes, unread, publish_us, longest_us, publications, subscribers, expired,
    locks, held,
    median(held / nullif(locks, 0)) OVER its_queue_manager AS usual_held,
    count(*) OVER its_queue_manager AS intervals,
    qmstosfs::DOUBLE + qmstosfr + qmstospl + qmstoscl AS spans_lost, qmstosok::DOUBLE AS spans
FROM inputs.qist AS d
LEFT JOIN (
    SELECT
        system, qmgr, interval_start, qmstget, puts,
        qmstosfs, qmstosfr, qmstospl, qmstoscl, qmstosok
    FROM message_manager_rows('inputs.qmst')
) USING (system, qmgr, interval_start)
LEFT JOIN of_tasks USING (system, qmgr, interval_start)
LEFT JOIN topics USING (system, qmgr, interval_start)
LEFT JOIN locks USING (system, qmgr, interval_start)
WINDOW its_queue_manager AS (PARTITION BY d.system, d.qmgr)
