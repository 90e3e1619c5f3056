"""The contents of the data, for a reader: counts, one record byte by byte, names explained.

In: open inputs, a chunk of records, or a name. Out: documents and lines. This package computes no
metrics: reports and SQL do.
"""
