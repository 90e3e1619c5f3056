-- A buffer pool over the whole input, and the maximum percentage of its buffers in use.
SELECT
    system, qmgr, object, '' AS job, min(start) AS start, sum(seconds) AS seconds,
    max(utc_offset) AS utc_offset, max(mq_version) AS mq_version, max(sequence) AS sequence,
    arg_max(buffers, (start, sequence)) AS buffers, 100 - min(lowest_free_percent) AS most_used
FROM rows
GROUP BY system, qmgr, object
