"""Selection of records and rows: by system, queue manager, time, type, and names in blocks.

The package also contains the rules of time: when a record counts (`counting`), and local time in a
zone that a user names (`zones`, `walls`).

in    arguments of users (`Selection.of(qmgr="QM*", since="0900")`); SMF headers; rows of a table
out   a `Selection`; masks over records and rows; an SQL condition: all three select the same rows

This package decodes no block: `decoding` matches the names in blocks.
"""
