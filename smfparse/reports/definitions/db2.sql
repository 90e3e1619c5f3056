-- DB2: one row per section for the server tasks, and one row per kind of request (Q5ST).
SELECT
    section, 0 AS place, 'tasks' AS line, 'Tasks' AS request,
    numtask, acttask, conncnt, disccnt, dhigmax, abndcnt, requcnt, deadcnt, scsbfts, scsmaxr
FROM grouped.q5st
UNION ALL BY NAME
SELECT
    section, place, 'request' AS line, request, calls,
    task / nullif(calls, 0) AS task_average, task_longest,
    db2 / nullif(calls, 0) AS db2_average, db2_longest
FROM
    grouped.q5st,
    (VALUES
        (1, 'Object reads', readcnt, readtcuw, readtmxw, readscuw, readsmxw),
        (2, 'Object lists', listcnt, listtcuw, listtmxw, listscuw, listsmxw),
        (3, 'Object updates', updtcnt, updttcuw, updttmxw, updtscuw, updtsmxw),
        (4, 'Object writes', writcnt, writtcuw, writtmxw, writscuw, writsmxw),
        (5, 'Object deletes', delecnt, deletcuw, deletmxw, delescuw, delesmxw),
        (6, 'SCS selects', scssel, scsstcuw, scsstmxw, scssscuw, scsssmxw),
        (7, 'SCS inserts', scsins, scsitcuw, scsitmxw, scsiscuw, scsismxw),
        (8, 'SCS updates', scsupd, scsutcuw, scsutmxw, scsuscuw, scsusmxw),
        (9, 'SCS deletes', scsdel, scsdtcuw, scsdtmxw, scsdscuw, scsdsmxw),
        (10, 'SSK selects', ssksel, sskstcuw, sskstmxw, ssksscuw, sskssmxw),
        (11, 'SSK inserts', sskins, sskitcuw, sskitmxw, sskiscuw, sskismxw),
        (12, 'SSK deletes', sskdel, sskdtcuw, sskdtmxw, sskdscuw, sskdsmxw),
        (13, 'LMS selects', lmssel, lmsstcuw, lmsstmxw, lmssscuw, lmsssmxw),
        (14, 'LMS inserts', lmsins, lmsitcuw, lmsitmxw, lmsiscuw, lmsismxw),
        (15, 'LMS updates', lmsupd, lmsutcuw, lmsutmxw, lmsuscuw, lmsusmxw),
        (16, 'LMS deletes', lmsdel, lmsdtcuw, lmsdtmxw, lmsdscuw, lmsdsmxw),
        (17, 'LMS lists', lmslis, lmsltcuw, lmsltmxw, lmslscuw, lmslsmxw)
    ) AS requests (place, request, calls, task, task_longest, db2, db2_longest)
