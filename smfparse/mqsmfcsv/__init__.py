"""The files of mq-smf-csv, the public formatter of IBM MQ's SMF records, and their Db2 DDL.

in    open inputs, a folder; `definitions/` says what is in each file
out   SMF-<block>.csv for each block that has rows, and MQTABLES.ddl
never decodes: it spells the columns of tables as that program does
"""
