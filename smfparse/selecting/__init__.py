"""Selection of records and rows: by system, queue manager, time, type, and names in blocks.

It also has the rules of time: when a record counts (`counting`), and what its local time is in a
zone that a user names (`zones`, `walls`).

in    what users write (`Selection.of(qmgr="QM*", since="0900")`); SMF headers; rows of a table
out   a `Selection`; masks over records and rows; an SQL condition: three ways to one result
never decodes a block: the names in blocks are matched by `decoding`
"""
