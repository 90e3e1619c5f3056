"""smf-volume in another way: plain Python, every record on its own, then added.

It is written from IBM's definitions of the fields and from what docs/reports.md promises, not from
the SQL. It has found a fault that no golden shows. Of other reports tests/golden has the rows that
such recomputations agreed with.
"""
