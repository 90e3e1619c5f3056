-- Storage of the channel initiator at its maximum number of channels, and storage per channel. Releases from MQ 10 on
-- use the table of 9.4.
SELECT
    system, qmgr,
    arg_max(storage_mb, (current_channels, time)) AS used_mb,
    max(current_channels) AS current,
    max(max_channels) AS maxchl,
    arg_max(CASE WHEN mq_version LIKE '__.%' THEN '9.4' ELSE left(mq_version, 3) END, time) AS release,
    list([current_channels::DOUBLE, storage_mb * 1024::DOUBLE] ORDER BY time, current_channels, storage_mb) AS kb_each
FROM chinit_figures
GROUP BY ALL
