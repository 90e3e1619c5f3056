-- Whose a task is: WTID, by the names that people use. See of_tasks, which is not used here: DuckDB takes a macro in
-- itself for a recursion, and rows that owners were joined to are read by it.
CREATE OR REPLACE MACRO identity_facts(identities) AS TABLE
SELECT
    *, coalesce(task_source, source) AS of_source, coalesce(task_record_offset, record_offset) AS task_record,
    connection_of(wtidatyp_text) AS connection_type, wtidccn AS job, wtidopid AS "user", wtidtran AS thread_user,
    coalesce("transaction", psb) AS program, wtidchl AS channel, wtidchlc AS connection
FROM query_table(identities);

-- Whose the records of class 3 are: one row per task and interval. Its 116/1 record says so, or where that
-- is not there its first 116/2 record.
CREATE OR REPLACE MACRO owners(identities) AS TABLE
SELECT
    of_source, task_record, connection_type, job, "user", thread_user, "transaction", psb, cics_task, channel,
    connection
FROM identity_facts(identities)
WHERE block_no = 1
QUALIFY row_number() OVER (
    PARTITION BY of_source, task_record
    ORDER BY source <> of_source, source, record_offset
) = 1;
