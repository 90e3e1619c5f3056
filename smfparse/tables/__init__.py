"""Every table and column by name: its meaning, source and Arrow type.

in    the blocks of `schemas`; names that users ask for
out   tables and their columns; Arrow schemas; what is wanted, checked
never decodes a record nor runs a query; only Arrow schemas load pyarrow
"""
