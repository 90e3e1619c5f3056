-- TOPIC: one row per section. Subscriptions and publishing (QTST); 1, 2, 3 are API, ADMIN, PROXY.
SELECT
    section,
    qtststot, qtstsdur, qtstsexp,
    qtstshig_1, qtstshig_2, qtstshig_3, qtstslow_1, qtstslow_2, qtstslow_3,
    qtstptot_1, qtstptot_2, qtstptot_3, qtstphig, qtstplow, qtstpnos, qtsttmsg, qtstsphw,
    qtstetto / nullif(qtstptot_1::BIGINT + qtstptot_2 + qtstptot_3, 0) AS publish_average,
    qtstethw AS publish_longest,
    (qtstptot_1::BIGINT + qtstptot_2 + qtstptot_3) / nullif(interval_seconds, 0) AS publishes_per_second
FROM grouped.qtst
