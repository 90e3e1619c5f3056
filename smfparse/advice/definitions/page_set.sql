-- A page set in an interval, with what changed since the interval before.
SELECT
    *, qis1bpno AS pool, qis1expf AS expands, qis1topg::BIGINT AS pages,
    used - lag(used, 1, used) OVER interval_before AS grown,
    (pages - used) * seconds / 3600 / nullif(greatest(grown, 0), 0) AS hours_to_full,
    qis1expn::INTEGER - lag(qis1expn, 1, qis1expn) OVER interval_before AS expansions,
    message_pages - first_value(message_pages) OVER interval_before AS messages_grown,
    qis1getn::BIGINT AS reads, qis1gett AS read_us, qis1imwn::BIGINT AS writes, qis1imwt AS write_us
FROM rows
WINDOW interval_before AS (PARTITION BY system, qmgr, object ORDER BY start)
