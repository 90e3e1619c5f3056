-- A channel instance in an interval: QCST, and for how long it was active in it. `carried` are the bytes of its
-- messages with the protocol: a sender's go out, a receiver's come in, a client's go both ways.
CREATE OR REPLACE MACRO channel_facts(channels) AS TABLE
SELECT
    *, qcstchnm AS channel, qcstchty_text AS type, qcstrqmn AS partner, qcstcnnm AS connection, qcststrt AS started,
    nullif(qcstslcs::BIGINT, 0) AS cipher_number,
    CASE WHEN type IN ('Sender', 'Server', 'Cluster-sender') THEN 'sends'
        WHEN type IN ('Receiver', 'Requester', 'Cluster-receiver') THEN 'takes' END AS direction,
    CASE direction WHEN 'sends' THEN qcstbyst::DOUBLE WHEN 'takes' THEN qcstbyrc
        ELSE qcstbyst::DOUBLE + qcstbyrc END AS carried,
    CASE WHEN direction IS NOT NULL THEN carried - qcstnbyt END AS added,
    CASE WHEN interval_seconds BETWEEN 0 AND 1e9
        THEN interval_start + to_microseconds(round(interval_seconds * 1e6)::BIGINT) END AS ends,
    CASE WHEN ends IS NOT NULL THEN greatest(
        epoch_us(least(ends, qcstludt)) - epoch_us(greatest(interval_start, qcststrt)), 0
    ) / 1e6 END AS active
FROM query_table(channels);
