"""Every table and column by name: its meaning, source and Arrow type.

in    the blocks of `schemas`; names that users ask for
out   tables and their columns; Arrow schemas; the requested names, checked

This package decodes no record and runs no query; only Arrow schemas load pyarrow.
"""
