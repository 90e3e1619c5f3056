-- DNS: one row per section and task of this kind (QCT_DNS), and one for all of them.
WITH
tasks AS (SELECT *, NULL AS channels, qctlgdu AS longest FROM dns_task_by_section('sectioned.qct_dns')),
together AS (SELECT *, NULL AS channels, qctlgdu AS longest FROM dns_task_of_section('sectioned.qct_dns'))
SELECT * EXCLUDE (channels) FROM task_lines('DNS', 'tasks', 'together')
