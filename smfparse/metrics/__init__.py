"""Metrics: the meaning of fields together. Views, measures, and the lookup of names.

in    tables by name; views and measures as SQL and TOML in `definitions/`
out   views and their columns; measures; the SQL that makes both, for a connection to run

This package decodes no record and runs no query.
"""
