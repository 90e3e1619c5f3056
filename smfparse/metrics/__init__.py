"""Metrics: views, measures (combined fields), and the lookup of names.

in    tables by name; SQL and TOML of views in `definitions/`, of measures in `subjects/`
out   views and their columns; measures; the SQL of views and measures

This package decodes no record and runs no query.
"""
