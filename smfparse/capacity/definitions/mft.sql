-- The longest round trip of message channels (QCST).
SELECT system, qmgr, max(net_average) / 1000 AS round_trip_ms
FROM channel
WHERE batches > 0 AND net_average > 0
GROUP BY ALL
ORDER BY ALL
