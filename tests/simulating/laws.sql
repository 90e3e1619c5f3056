-- Laws of every simulated site: each is the query for the rows that break it. `compared` has what queue statistics
-- and tasks say of the calls on a queue.
WITH compared AS (
    SELECT
        queue, s.got, coalesce(t.got, 0) AS got_by_tasks,
        s.put::HUGEINT - coalesce(t.put, 0) AS copies
    FROM (
        SELECT qqstqnam AS queue, sum(qqstputs + qqstput1) AS put, sum(qqstgets) AS got
        FROM qqst GROUP BY ALL
    ) AS s LEFT JOIN (
        SELECT basename AS queue, sum(putn + put1n) AS put, sum(getdval) AS got
        FROM wqst GROUP BY ALL
    ) AS t USING (queue)
)

-- law: extremes of a queue enclose its depth
SELECT qqstqnam FROM qqst WHERE qqstdpth NOT BETWEEN qqstdplo AND qqstdphi

-- law: persistent and other messages are all
SELECT qqstqnam FROM qqst
WHERE qqstputs <> qqstppt + qqstnppt OR qqstput1 <> qqstpp1 + qqstnpp1
    OR qqstputb <> qqstppb + qqstnppb OR qqstgets <> qqstpdg + qqstnpdg
    OR qqstgetb <> qqstpdb + qqstnpdb

-- law: queue statistics have the calls of all tasks
SELECT * FROM compared WHERE got <> got_by_tasks OR copies < 0

-- law: copies of streamed messages are puts to their queue, and of no task
SELECT * FROM (
    SELECT coalesce(sum(streamedn), 0) AS streamed, count(DISTINCT basename) AS queues
    FROM wqst WHERE streamedn > 0
), (
    SELECT coalesce(sum(copies), 0) AS copied, count(*) FILTER (copies > 0) AS others
    FROM compared
)
WHERE streamed <> copied OR queues <> others

-- law: log bytes follow persistent puts, gets and units of work
SELECT * FROM (
    SELECT
        (SELECT coalesce(sum(wtasjwb), 0)::DOUBLE FROM wtas) AS logged,
        (SELECT coalesce(sum(
            (putpmsg + put1pmsg + if(putpmsg + put1pmsg > 0, streamedn, 0))
            * (putbytes / greatest(validput, 1) + 500)), 0) FROM wqst)
        + (SELECT coalesce(sum(getpmsg * 110), 0) FROM wqst)
        + (SELECT coalesce(sum(360 * wtasjcn / if(wtidatyp IN (4, 7), 2, 1)), 0)
            FROM wtas JOIN wtid USING (record_no))
        - (SELECT coalesce(sum(360 * (putjcn + put1jcn) / if(wtidatyp IN (4, 7), 2, 1)), 0)
            FROM wqst JOIN wtid USING (record_no)) AS expected
) WHERE abs(logged - expected) > 0.02 * expected

-- law: the log has the pages of what tasks logged
SELECT * FROM (SELECT sum(qjstbffl)::DOUBLE AS pages, count(*) AS intervals FROM qjst), (
    SELECT coalesce(sum(wtasjwb), 0) / 4057 AS expected FROM wtas
) WHERE abs(pages - expected) > greatest(2 * intervals, 0.01 * expected)

-- law: adapters make the calls of the channels
WITH of_channels AS (SELECT record_no FROM wtid WHERE wtidatyp = 6)
SELECT * FROM (
    SELECT
        (SELECT sum(putn + put1n + getn + openn + closen)
            FROM wqst JOIN of_channels USING (record_no))
        + (SELECT sum(wtascmn + wtasban + wtasotn + wtasctn + wtasprn)
            FROM wtas JOIN of_channels USING (record_no)) AS calls,
        (SELECT sum(putct + put1ct + getct + openct + closect)
            FROM wqst JOIN of_channels USING (record_no))
        + (SELECT sum(wtascmct + wtasbact + wtasotct + wtasctct + wtasprct)
            FROM wtas JOIN of_channels USING (record_no)) AS cpu
), (
    SELECT
        sum(qctreqn) AS done, sum(qctcptm) AS spent,
        count(*) FILTER (qctcptm > qcteltm) AS too_long
    FROM qct_adp
)
WHERE coalesce(abs(done - calls) > 0.001 * calls, coalesce(done, 0) <> coalesce(calls, 0))
    OR abs(spent - cpu) > 0.001 * cpu OR too_long > 0

-- law: requests to structures follow the calls on shared queues
SELECT * FROM (
    SELECT coalesce(sum(putn + put1n + getdval), 0) AS shared FROM wqst
    WHERE cfstrucname <> ''
), (
    SELECT coalesce(sum(qestcsec), 0) AS single, coalesce(sum(qestcmec), 0) AS several
    FROM qest
) WHERE single <> shared OR several < shared

-- law: a queue holds what was put and not taken
WITH steps AS (
    SELECT
        *,
        lag(qqstdpth) OVER own AS before,
        interval_start - lag(interval_start + to_microseconds(
            CAST(interval_seconds * 1000000 AS BIGINT))) OVER own AS gap
    FROM qqst
    WHERE NOT qqstpart
    WINDOW own AS (PARTITION BY qmgr, qqstqnam ORDER BY interval_start)
),
calls AS (
    SELECT
        qqstqnam, interval_start,
        sum(qqstputs + qqstput1) AS put, sum(qqstgets - qqstrbgt) AS got,
        sum(qqstexpr) AS expired
    FROM qqst
    GROUP BY ALL
)
SELECT qqstqnam, interval_start, before, put, got, expired, qqstdpth
FROM steps JOIN calls USING (qqstqnam, interval_start)
WHERE gap = INTERVAL 0 MINUTE AND qqstdpth <> before + put - got - expired

-- law: the queue manager counts the puts and gets of all queues
WITH queues AS (
    SELECT
        qmgr, interval_start, sum(qqstputs) AS puts, sum(qqstput1) AS put1s,
        sum(qqstgets) AS got, sum(qqstopen) AS opened, sum(qqstppt + qqstpp1) AS persistent
    FROM qqst GROUP BY ALL
)
SELECT q.qmgr, q.interval_start, qmstput, puts
FROM queues AS q
JOIN qmst USING (qmgr, interval_start) JOIN qist USING (qmgr, interval_start)
WHERE qmstput <> puts OR qmstput1 <> put1s OR qmstopen <> opened OR qmstget < got
    OR qmstspp <> persistent OR qmstspp + qmstsnp <> puts + put1s
    OR qistmput <> puts + put1s OR qistmget < got

-- law: log writes agree with one another
SELECT qmgr, interval_start
FROM qjst JOIN (
    SELECT
        qmgr, interval_start, sum(qjstiocount) AS writes, sum(qjstioci) AS pages,
        count(DISTINCT copy) FILTER (qjstiocount > 0) AS copies,
        max(qjstiomaxio) AS longest, sum(qjstiototio) AS took,
        bool_and(io_type = 2 OR qjstioci = qjstiocount) AS single,
        bool_and(qjstioci BETWEEN qjstiocount AND 128 * qjstiocount) AS possible
    FROM qjst_io GROUP BY ALL
) USING (qmgr, interval_start)
WHERE qjstlogw <> writes OR qjstciwr <> pages OR NOT single OR NOT possible
    OR longest > took OR qjstbffl * copies > pages

-- law: the logger sleeps when it does not write
SELECT qmgr, interval_start, busy, suspended
FROM (SELECT *, interval_seconds * 1e6 - qjstslptu AS busy FROM qjst) JOIN (
    SELECT qmgr, interval_start, greatest(
        sum(qjstiototsus) FILTER (copy = 1), sum(qjstiototsus) FILTER (copy = 2)
    ) AS suspended FROM qjst_io GROUP BY ALL
) USING (qmgr, interval_start)
WHERE busy < 0.99 * suspended OR busy > 1.06 * suspended + 1
    OR busy > interval_seconds * 1e6

-- law: pool use follows the depth of its queues
SELECT qmgr, interval_start, pool, pages, qpstnbuf - qpstcbs
FROM (
    SELECT qmgr, interval_start, qqstbpid AS pool, sum(qqstdpth * pages) AS pages
    FROM qqst JOIN message USING (qqstqnam) WHERE qqstbpid IS NOT NULL GROUP BY ALL
) JOIN (
    SELECT *, max(qpsttpw) OVER (PARTITION BY qmgr, qpstpool) AS written FROM qpst
) USING (qmgr, interval_start)
WHERE qpstpool = pool AND written = 0
    AND abs(qpstnbuf - qpstcbs - 40 - pages) > 0.05 * pages

-- law: pages are written behind from 85 percent on and by tasks from 95
SELECT qmgr, interval_start, qpstpool, qpstcbsl, qpstdwt
FROM qpst
WHERE (qpstdwt > 0) <> (qpstcbsl <= 0.15 * qpstnbuf AND qpsttpw > 0)
    OR qpstdmc > 0 AND qpstcbsl > 0.05 * qpstnbuf
    OR qpstdmc = 0 AND qpstcbsl < 0.05 * qpstnbuf - 1
    OR qpstsos > 0 AND (qpstcbsl > 0 OR qpstdmc = 0)
    OR qpstimw < qpstdmc
    OR qpstcbsl > qpstcbs OR qpstcbs > qpstnbuf OR qpsttpw < qpstimw

-- law: page sets hold what is on their queues
SELECT qmgr, interval_start, qis1psno, qis1ppg + qis1nppg, pages
FROM (
    SELECT qmgr, interval_start, qqstpsid AS qis1psno, sum(qqstdpth * pages) AS pages
    FROM qqst JOIN message USING (qqstqnam) WHERE qqstpsid IS NOT NULL GROUP BY ALL
) JOIN qis1 USING (qmgr, interval_start, qis1psno)
WHERE abs(qis1ppg + qis1nppg - pages) > 0.05 * pages
    OR qis1unpg + qis1ppg + qis1nppg > qis1topg

-- law: page sets write and read what their pools do
SELECT qmgr, interval_start, qpstpool, written, qpsttpw, read, qpstrio
FROM qpst JOIN (
    SELECT
        qmgr, interval_start, qis1bpno AS qpstpool,
        sum(qis1dwpp + qis1imwp) AS written, sum(qis1getp) AS read, count(*) AS sets
    FROM qis1 GROUP BY ALL
) USING (qmgr, interval_start, qpstpool)
WHERE abs(written - qpsttpw) > 3 * sets OR abs(read - qpstrio) > sets

-- law: a commit lasts as long as the log write it waits for
SELECT wtascmn, wtascmet + wtaspret, wtasjcet, wtassuse
FROM wtas
WHERE wtascmet + wtaspret < wtascmct + wtasprct OR wtassuse < wtasjcet - 1
    OR wtascmn > 0 AND wtasjcn > 0 AND wtascmet + wtaspret < 0.5 * wtasjcet

-- law: channels send what is taken from their queues
WITH sent AS (
    SELECT interval_start, wtidchl AS channel, sum(qqstgets) AS got, sum(qqstgetb) AS size
    FROM qqst JOIN (
        SELECT DISTINCT wtidchl, basename FROM wqst JOIN wtid USING (record_no)
        WHERE wtidchl <> '' AND getn > 0
    ) ON qqstqnam = basename GROUP BY ALL
)
SELECT channel, interval_start, got, sum(qcstnmsg), size, sum(qcstnbyt)
FROM sent JOIN (
    SELECT qcstchnm AS channel, interval_start, qcstnmsg, qcstnbyt
    FROM qcst WHERE qcstchty IN (1, 9)
) USING (channel, interval_start)
GROUP BY ALL
HAVING got <> sum(qcstnmsg) OR size <> sum(qcstnbyt)

-- law: batches hold the messages of channels
SELECT qcstchnm, interval_start, qcstnmsg, qcstbatc, qcstfuba, qcstcbsz
FROM qcst
WHERE qcstchty <> 7 AND (
    qcstfuba > qcstbatc OR qcstbatc > qcstnmsg OR qcstbatc * qcstcbsz < qcstnmsg
    OR qcstfuba * qcstcbsz > qcstnmsg OR qcstnpmg > qcstnmsg)

-- law: all queues of a task are there
SELECT t.record_no, wtaswqct, blocks
FROM wtas AS t JOIN (
    SELECT task_record_no, count(*) AS blocks, count(DISTINCT correl) AS tasks
    FROM wqst GROUP BY ALL
) AS q ON q.task_record_no = t.record_no
WHERE wtaswqct <> blocks OR tasks <> 1

-- law: a task is accounted for from its start to its end
SELECT qmgr, wtasstrt, wtaswtas, count(*), count(*) FILTER (wtasaeot)
FROM wtas
GROUP BY ALL
HAVING count(*) FILTER (wtasaeot) <> 1
    OR max(interval_start) <> max(interval_start) FILTER (wtasaeot)
