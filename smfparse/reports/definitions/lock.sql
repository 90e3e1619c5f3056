-- LOCK: one row per section. Requests to the lock manager (QLST).
SELECT
    section, qlstgetl, qlsthldl, qlstrell,
    qlstgetl / nullif(interval_seconds, 0) AS gets_per_second
FROM grouped.qlst
