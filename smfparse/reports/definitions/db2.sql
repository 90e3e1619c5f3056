-- DB2: one row per section for the server tasks, then one for each kind of request (Q5ST).
WITH
requests AS (
    SELECT section, unnest([
        {'place': 1, 'request': 'Object reads', 'calls': readcnt,
         'task': readtcuw, 'task_max': readtmxw, 'db2': readscuw, 'db2_max': readsmxw},
        {'place': 2, 'request': 'Object lists', 'calls': listcnt,
         'task': listtcuw, 'task_max': listtmxw, 'db2': listscuw, 'db2_max': listsmxw},
        {'place': 3, 'request': 'Object updates', 'calls': updtcnt,
         'task': updttcuw, 'task_max': updttmxw, 'db2': updtscuw, 'db2_max': updtsmxw},
        {'place': 4, 'request': 'Object writes', 'calls': writcnt,
         'task': writtcuw, 'task_max': writtmxw, 'db2': writscuw, 'db2_max': writsmxw},
        {'place': 5, 'request': 'Object deletes', 'calls': delecnt,
         'task': deletcuw, 'task_max': deletmxw, 'db2': delescuw, 'db2_max': delesmxw},
        {'place': 6, 'request': 'SCS selects', 'calls': scssel,
         'task': scsstcuw, 'task_max': scsstmxw, 'db2': scssscuw, 'db2_max': scsssmxw},
        {'place': 7, 'request': 'SCS inserts', 'calls': scsins,
         'task': scsitcuw, 'task_max': scsitmxw, 'db2': scsiscuw, 'db2_max': scsismxw},
        {'place': 8, 'request': 'SCS updates', 'calls': scsupd,
         'task': scsutcuw, 'task_max': scsutmxw, 'db2': scsuscuw, 'db2_max': scsusmxw},
        {'place': 9, 'request': 'SCS deletes', 'calls': scsdel,
         'task': scsdtcuw, 'task_max': scsdtmxw, 'db2': scsdscuw, 'db2_max': scsdsmxw},
        {'place': 10, 'request': 'SSK selects', 'calls': ssksel,
         'task': sskstcuw, 'task_max': sskstmxw, 'db2': ssksscuw, 'db2_max': sskssmxw},
        {'place': 11, 'request': 'SSK inserts', 'calls': sskins,
         'task': sskitcuw, 'task_max': sskitmxw, 'db2': sskiscuw, 'db2_max': sskismxw},
        {'place': 12, 'request': 'SSK deletes', 'calls': sskdel,
         'task': sskdtcuw, 'task_max': sskdtmxw, 'db2': sskdscuw, 'db2_max': sskdsmxw},
        {'place': 13, 'request': 'LMS selects', 'calls': lmssel,
         'task': lmsstcuw, 'task_max': lmsstmxw, 'db2': lmssscuw, 'db2_max': lmsssmxw},
        {'place': 14, 'request': 'LMS inserts', 'calls': lmsins,
         'task': lmsitcuw, 'task_max': lmsitmxw, 'db2': lmsiscuw, 'db2_max': lmsismxw},
        {'place': 15, 'request': 'LMS updates', 'calls': lmsupd,
         'task': lmsutcuw, 'task_max': lmsutmxw, 'db2': lmsuscuw, 'db2_max': lmsusmxw},
        {'place': 16, 'request': 'LMS deletes', 'calls': lmsdel,
         'task': lmsdtcuw, 'task_max': lmsdtmxw, 'db2': lmsdscuw, 'db2_max': lmsdsmxw},
        {'place': 17, 'request': 'LMS lists', 'calls': lmslis,
         'task': lmsltcuw, 'task_max': lmsltmxw, 'db2': lmslscuw, 'db2_max': lmslsmxw}
    ], recursive := true)
    FROM grouped.q5st
)
SELECT
    section, 0 AS place, 'tasks' AS line, 'Tasks' AS request,
    numtask, acttask, conncnt, disccnt, dhigmax, abndcnt, requcnt, deadcnt, scsbfts, scsmaxr
FROM grouped.q5st
UNION ALL BY NAME
SELECT
    section, place, 'request' AS line, request, calls,
    task / nullif(calls, 0) AS task_average,
    task_max AS task_longest,
    db2 / nullif(calls, 0) AS db2_average,
    db2_max AS db2_longest
FROM requests
