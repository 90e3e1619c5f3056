"""Decode records into tables: the selected rows, in Arrow.

in    chunks of records; tables and columns that users request; the arguments of a selection
      (`Selection.of(qmgr="QM*", since="0900")`)
out   tables and their columns by name; (table, RecordBatch) pairs, and damage; a selection as masks
      over records and rows, and as an SQL condition: all three select the same rows

This package opens no files and runs no query. It decodes only the required tables and columns.
"""
