"""Metrics: the meaning of combined fields. Views, measures, and the lookup of names.

in    tables by name; views and measures as SQL and TOML in `definitions/`
out   views and their columns; measures; the SQL of both, to be run by a connection

This package decodes no record and runs no query.
"""
