"""Documents about the input: counts of its records, the bytes of one record, meanings of names.

In: open inputs, a chunk of records, or the name of a table, view or column. Out: documents, and
lines of text. This package computes no metrics.
"""
