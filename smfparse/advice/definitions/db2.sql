-- What a queue manager asks of Db2 in an interval: Q5ST.
SELECT
    *, dhigmax::BIGINT AS deepest, numtask AS servers, deadcnt::BIGINT AS deadlocks,
    abndcnt::BIGINT AS abends, lmsins::BIGINT AS inserts, lmssel::BIGINT AS selects, lmsitcuw AS insert_us,
    request_elapsed AS server_us, longest_request AS longest_us
FROM rows
