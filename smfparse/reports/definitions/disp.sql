-- DISP: one row per section and dispatcher task of the channel initiator (QCT_DSP), and one for all of them;
-- each once more, for the lines with its number of channels.
WITH
blocks AS (
    SELECT *, qctchln AS channels, NULL AS longest, NULL AS longest_at
    FROM grouped.qct_dsp
)
SELECT
    tasks.* EXCLUDE (longest, longest_at)
        REPLACE (CASE lines.line WHEN 'task' THEN tasks.line ELSE lines.line END AS line),
    CASE WHEN number IS NULL THEN 'all TCBs' ELSE 'this TCB' END AS tcbs
FROM channel_tasks('DISP', 'blocks') AS tasks, (VALUES ('task'), ('channels')) AS lines (line)
