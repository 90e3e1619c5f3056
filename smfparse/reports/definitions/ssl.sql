-- SSL: one row per section and task of this kind (QCT_SSL), and one for all of them.
WITH
tasks AS (SELECT *, NULL AS channels, qctlsdu AS longest FROM tls_task_by_section('sectioned.qct_ssl')),
together AS (SELECT *, NULL AS channels, qctlsdu AS longest FROM tls_task_of_section('sectioned.qct_ssl'))
SELECT * EXCLUDE (channels) FROM task_lines('SSL', 'tasks', 'together')
