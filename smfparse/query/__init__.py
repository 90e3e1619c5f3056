"""Inputs in SQL and polars. In: open inputs and a query. Out: rows as Arrow or polars.

Only the required columns are decoded. Only the prompt prints. Spooled rows are removed after their
query.
"""
