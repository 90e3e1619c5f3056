-- One row per task of the channel initiator and interval: dispatchers (QCT_DSP), adapters (QCT_ADP), and those
-- for TLS (QCT_SSL) and for names (QCT_DNS).
WITH
tasks AS (
    SELECT 'dispatcher' AS kind, * FROM qct_dsp
    UNION ALL BY NAME
    SELECT 'adapter' AS kind, * FROM qct_adp
    UNION ALL BY NAME
    SELECT 'ssl' AS kind, *, qctlsdu AS longest, qctlstm AS longest_at FROM qct_ssl
    UNION ALL BY NAME
    SELECT 'dns' AS kind, *, qctlgdu AS longest, qctlgtm AS longest_at FROM qct_dns
)
SELECT
    input_no, system, qmgr, qsg, mq_version, smf_time, counted_at, time, utc_offset,
    interval_start, interval_seconds, source, record_no, block_no,
    kind, block_no - 1 AS task,
    qctreqn AS requests,
    qctreqn / nullif(interval_seconds, 0) AS requests_per_second,
    qcteltm AS elapsed, qctcptm AS cpu, qctwttm AS idle,
    100 * qcteltm / nullif(interval_seconds * 1e6, 0) AS busy,
    100 * qctcptm / nullif(interval_seconds * 1e6, 0) AS cpu_busy,
    qcteltm / nullif(qctreqn, 0) AS elapsed_per_request,
    qctcptm / nullif(qctreqn, 0) AS cpu_per_request,
    qctchln AS channels, longest, longest_at
FROM tasks
