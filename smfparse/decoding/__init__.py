"""Records to Arrow.

In come chunks of records and what is wanted of them; out go (table, RecordBatch) pairs, and damage.
It never opens a file, and decodes no table or column that is not needed.
"""
