-- CHINIT: one row per section. Channels against their limits, and storage (QCCT).
-- The size of 64-bit storage came with MQ 9.3.5, and other words for what is used below the bar.
SELECT
    section, CASE WHEN qcctstab IS NULL THEN 'before_935' ELSE 'since_935' END AS line, COLUMNS('^qcct'),
    qcctslim AS storage_limit, current_percent, active_percent
FROM chinit_by_section('sectioned.qcct')
