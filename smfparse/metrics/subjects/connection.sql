-- A connection from its start to its end: QMAC, and whose it is.
CREATE OR REPLACE MACRO connection_facts(connections) AS TABLE
SELECT
    *, connection_of(qwhcatyp_text) AS connection_type, qmaccput AS cpu, qwhccn AS job, qwhcopid AS "user",
    coalesce("transaction", psb) AS program,
    qmacputa::BIGINT + qmacputb + qmacputc + qmacputd AS all_puts,
    qmacgeta::BIGINT + qmacgetb + qmacgetc + qmacgetd AS all_gets
FROM query_table(connections);
