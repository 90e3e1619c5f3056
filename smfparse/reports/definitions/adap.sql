-- ADAP: one row per section and adapter, and one row for all adapters.
WITH tasks AS (FROM adapter_by_section('sectioned.qct_adp') UNION ALL BY NAME FROM adapter_of_section('sectioned.qct_adp'))
FROM task_lines('ADAP', 'tasks')
