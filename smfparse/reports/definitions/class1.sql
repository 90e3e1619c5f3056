-- CLASS1: one row per connection record (QMAC with QWHC and QWAC); over several records one a kind of
-- connection, job and user. A record counts from connecting on and is written once, at the end, so
-- those of several are added.
WITH
processor AS (
    SELECT
        input_no, source, record_no,
        qwacejst - qwacbjst AS tcb, qwacesrb - qwacbsrb AS srb, qwaccomm, qwacback,
        epoch_us(qwacesc) - epoch_us(qwacbsc) AS connected
    FROM sectioned.qwac
)
SELECT
    section,
    connection_of(qwhcatyp_text) AS connection,
    qwhccn, qwhcopid, asked_for('transaction', coalesce("transaction", psb)) AS "transaction",
    count(*) AS connections,
    total(qmaccput) / 1e6 AS cpu_seconds,
    total(tcb) / 1e6 AS tcb_seconds, total(srb) / 1e6 AS srb_seconds,
    sum(connected)::DOUBLE / 1e6 AS connected_seconds,
    sum(qwaccomm)::BIGINT AS qwaccomm, sum(qwacback)::BIGINT AS qwacback,
    sum(qmacputa)::BIGINT AS qmacputa, sum(qmacputb)::BIGINT AS qmacputb,
    sum(qmacputc)::BIGINT AS qmacputc, sum(qmacputd)::BIGINT AS qmacputd,
    sum(qmacgeta)::BIGINT AS qmacgeta, sum(qmacgetb)::BIGINT AS qmacgetb,
    sum(qmacgetc)::BIGINT AS qmacgetc, sum(qmacgetd)::BIGINT AS qmacgetd,
    sum(qmacputa::BIGINT + qmacputb + qmacputc + qmacputd)::BIGINT AS puts,
    sum(qmacgeta::BIGINT + qmacgetb + qmacgetc + qmacgetd)::BIGINT AS gets,
    total(qmaccput) / nullif(puts + gets, 0) AS request_cpu
FROM sectioned.qmac
LEFT JOIN processor USING (input_no, source, record_no)
GROUP BY ALL
