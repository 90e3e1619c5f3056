-- CLASS1: one row per connection record (QMAC with QWHC and QWAC); in sections of several records, one row per kind of
-- connection, job and user. A record is written once, at the end of a connection, and counts from its start, so the
-- records of several connections are added.
SELECT
    section, connection_type AS connection, qwhccn, qwhcopid, asked_for('transaction', program) AS "transaction",
    measure(connection.connections) AS connections, measure(connection.cpu_seconds) AS cpu_seconds,
    measure(connection.puts) AS puts, measure(connection.gets) AS gets,
    measure(connection.request_cpu) AS request_cpu, sum(COLUMNS('(qmac(put|get)[abcd])'))::BIGINT AS '\1',
    measures_of_connection_use
FROM connection_facts('sectioned.qmac')
LEFT JOIN (SELECT input_no, source, record_no, COLUMNS('^qwac') FROM sectioned.qwac)
    USING (input_no, source, record_no)
GROUP BY ALL
