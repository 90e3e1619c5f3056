"""Metrics: the calendar, views, measures (combined fields), and the lookup of names.

in    tables by name; SQL and TOML of views in `definitions/`, of measures in `subjects/`
out   views and their columns; measures; the SQL of views and measures; for each queue manager:
      clock, intervals with kind and gap, restart or missing records before them, and the
      completeness of its data

This package decodes no record and opens no inputs.
"""
