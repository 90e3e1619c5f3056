"""Decoder: from records to Arrow.

In: chunks of records, and the required tables and columns. Out: (table, RecordBatch) pairs, and
damage. This package opens no files, and decodes only the required tables and columns.
"""
