-- The shared message data set of a structure in an interval: QESD.
SELECT
    *,
    qesdbfto::BIGINT AS buffers, qesdbfmf::BIGINT AS least_free, qesdbfmp::BIGINT AS most_waiters,
    qesdbfwp::BIGINT AS waits, qesdbfpt AS wait_us, qesdbfrr::BIGINT AS buffer_reads, qesdbfrs::BIGINT AS saved_reads,
    qesdsmfl::BIGINT AS failures, qesdsmmu::BIGINT AS most_used, qesdsmbd::BIGINT AS blocks,
    qesdsmbu::BIGINT AS blocks_used,
    qesdiowr::BIGINT AS writes, qesdiowt AS write_us, qesdiorr::BIGINT AS reads, qesdiort AS read_us
FROM rows
