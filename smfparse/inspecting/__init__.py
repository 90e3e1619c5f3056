"""The contents of the data, for a reader: counts, the bytes of a record, explanations of names.

In: open inputs, a chunk of records, or a name. Out: documents and lines. This package computes no
metrics: reports and SQL queries do.
"""
