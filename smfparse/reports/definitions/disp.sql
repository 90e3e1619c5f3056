-- DISP: one row per section and dispatcher (QCT_DSP), and one for all of them; each once more, for the lines with its
-- number of channels.
WITH
tasks AS (
    SELECT *, qctchln::UBIGINT AS channels, NULL AS longest, NULL AS longest_at
    FROM dispatcher_by_section('sectioned.qct_dsp')
),
together AS (
    SELECT *
    FROM dispatcher_of_section('sectioned.qct_dsp')
    JOIN (SELECT section, sum(channels)::UBIGINT AS channels FROM tasks GROUP BY section) USING (section)
)
SELECT
    tasks.* EXCLUDE (longest, longest_at)
        REPLACE (CASE lines.line WHEN 'task' THEN tasks.line ELSE lines.line END AS line),
    CASE WHEN number IS NULL THEN 'all TCBs' ELSE 'this TCB' END AS tcbs
FROM task_lines('DISP', 'tasks', 'together') AS tasks, (VALUES ('task'), ('channels')) AS lines (line)
