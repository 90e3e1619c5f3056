"""Output of tables: a Parquet dataset, files for other tools, a DuckDB database, lake tables.

In: open inputs, or a dataset to commit to lake tables. An output appears complete or not at all.
"""
