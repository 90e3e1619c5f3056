-- DISP: one row per section and dispatcher, and one row for all dispatchers; and the same rows again, for the lines
-- with the number of channels.
WITH tasks AS (
    SELECT
        * REPLACE (CASE WHEN block_no IS NULL THEN sum(channels) FILTER (block_no IS NOT NULL) OVER (PARTITION BY section)
            ELSE channels END::UBIGINT AS channels)
    FROM (FROM dispatcher_by_section('sectioned.qct_dsp') UNION ALL BY NAME FROM dispatcher_of_section('sectioned.qct_dsp'))
)
SELECT
    tasks.* REPLACE (CASE lines.line WHEN 'task' THEN tasks.line ELSE lines.line END AS line),
    CASE WHEN number IS NULL THEN 'all TCBs' ELSE 'this TCB' END AS tcbs
FROM task_lines('DISP', 'tasks') AS tasks, (VALUES ('task'), ('channels')) AS lines (line)
