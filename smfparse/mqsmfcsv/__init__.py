"""The files of mq-smf-csv, the public formatter of IBM MQ's SMF records, and their Db2 DDL.

in    open inputs, a folder; `definitions/` declares the columns of each file
out   SMF-<block>.csv for each block that has rows, and MQTABLES.ddl

This package decodes nothing: it writes the columns of tables in the format of mq-smf-csv.
"""
