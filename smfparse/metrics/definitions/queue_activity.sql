-- What tasks did on queues, one row per queue block (WQST), and whose it is (WTID).
SELECT * FROM queue_use_rows('wqst') LEFT JOIN owners('wtid') USING (of_source, task_record)
