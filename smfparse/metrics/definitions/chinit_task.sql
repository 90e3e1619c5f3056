-- One row per task of the channel initiator and interval: dispatchers (QCT_DSP), adapters (QCT_ADP), and those
-- for TLS (QCT_SSL) and for names (QCT_DNS).
WITH
tasks AS (
    SELECT 'dispatcher' AS kind, * FROM dispatcher_rows('qct_dsp')
    UNION ALL BY NAME
    SELECT 'adapter' AS kind, * FROM adapter_rows('qct_adp')
    UNION ALL BY NAME
    SELECT 'ssl' AS kind, * FROM tls_task_rows('qct_ssl')
    UNION ALL BY NAME
    SELECT 'dns' AS kind, * FROM dns_task_rows('qct_dns')
)
SELECT
    input_no, system, qmgr, qsg, mq_version, smf_time, counted_at, time, utc_offset,
    interval_start, interval_seconds, source, record_no, block_no,
    kind, block_no - 1 AS task, qctreqn AS requests, requests_per_second,
    qcteltm AS elapsed, qctcptm AS cpu, qctwttm AS idle, busy, cpu_busy,
    qcteltm_average AS elapsed_per_request, qctcptm_average AS cpu_per_request,
    qctchln AS channels, longest, longest_at
FROM tasks
