-- SSL: one row per section and TLS task, and one row for all TLS tasks.
WITH tasks AS (FROM tls_task_by_section('sectioned.qct_ssl') UNION ALL BY NAME FROM tls_task_of_section('sectioned.qct_ssl'))
FROM task_lines('SSL', 'tasks')
