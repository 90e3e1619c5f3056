-- ADAP: one row per section and task of this kind (QCT_ADP), and one for all of them.
WITH
tasks AS (SELECT *, NULL AS channels, NULL AS longest, NULL AS longest_at FROM adapter_by_section('sectioned.qct_adp')),
together AS (SELECT *, NULL AS channels, NULL AS longest, NULL AS longest_at FROM adapter_of_section('sectioned.qct_adp'))
SELECT * EXCLUDE (channels, longest, longest_at) FROM task_lines('ADAP', 'tasks', 'together')
