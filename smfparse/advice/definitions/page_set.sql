-- A page set in an interval: QIS1, with what changed since the interval before, and how it grew in the day before.
SELECT
    system, qmgr, qis1psno::VARCHAR AS object, '' AS job, interval_start AS start,
    interval_seconds AS seconds, utc_offset, mq_version,
    qis1bpno AS pool, qis1full, qis1expn, qis1expf AS expands, qis1topg::BIGINT AS pages,
    qis1topg::BIGINT - qis1unpg AS used, 100 * used::DOUBLE / nullif(pages, 0) AS used_percent,
    used - lag(used, 1, used) OVER interval_before AS grown,
    epoch(interval_start) AS moment,
    CASE
        WHEN moment - min(moment) OVER one_day >= 43200 AND regr_r2(used, moment) OVER one_day > 0.8
        THEN (pages - used) / nullif(greatest(3600 * regr_slope(used, moment) OVER one_day, 0), 0)
    END AS hours_to_full,
    qis1expn::INTEGER - lag(qis1expn, 1, qis1expn) OVER interval_before AS expansions,
    qis1ppg::BIGINT + qis1nppg AS message_pages,
    message_pages - first_value(message_pages) OVER interval_before AS messages_grown,
    qis1getn::BIGINT AS reads, qis1gett AS read_us, qis1imwn::BIGINT AS writes, qis1imwt AS write_us
FROM inputs.qis1
WINDOW
    interval_before AS (PARTITION BY system, qmgr, qis1psno ORDER BY interval_start),
    one_day AS (PARTITION BY system, qmgr, qis1psno ORDER BY moment RANGE BETWEEN 86400 PRECEDING AND CURRENT ROW)
