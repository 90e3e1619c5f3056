-- What a queue manager asks of Db2 in an interval: Q5ST.
SELECT
    system, qmgr, '' AS object, '' AS job, interval_start AS start, interval_seconds AS seconds, utc_offset,
    mq_version, dhigmax::BIGINT AS deepest, numtask AS servers, deadcnt::BIGINT AS deadlocks,
    abndcnt::BIGINT AS abends, lmsins::BIGINT AS inserts, lmssel::BIGINT AS selects, lmsitcuw AS insert_us,
    readcnt::BIGINT + listcnt + updtcnt + writcnt + delecnt AS requests,
    readscuw + listscuw + updtscuw + writscuw + delescuw AS server_us,
    greatest(readsmxw, listsmxw, updtsmxw, writsmxw, delesmxw) AS longest_us
FROM inputs.q5st
