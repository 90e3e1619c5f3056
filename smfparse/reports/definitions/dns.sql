-- DNS: one row per section and DNS task, and one row for all DNS tasks.
WITH tasks AS (FROM dns_task_by_section('sectioned.qct_dns') UNION ALL BY NAME FROM dns_task_of_section('sectioned.qct_dns'))
FROM task_lines('DNS', 'tasks')
