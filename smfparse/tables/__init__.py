"""Every table and column by name: its meaning, source and Arrow type.

in    the blocks of `schemas`; names of tables and columns that users request
out   tables and their columns; Arrow schemas; the checked request

This package decodes no record and runs no query; only Arrow schemas load pyarrow.
"""
