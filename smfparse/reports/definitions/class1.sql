-- CLASS1: one row per connection record (QMAC with QWHC and QWAC); over several records one a kind of
-- connection, job and user. A record counts from connecting on and is written once, at the end, so
-- those of several are added.
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
