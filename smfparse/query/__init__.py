"""Inputs as SQL and polars see them: open inputs and a query in, rows as Arrow or polars out.

Only what a query needs is decoded. Nothing is printed here but at the prompt, and nothing is kept:
what is spooled goes with its query.
"""
