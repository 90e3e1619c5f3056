"""Metrics: views, measures, the calendar of each queue manager, and explanations of names.

in    declarations in SQL and TOML: views in `definitions/`, measures in `subjects/`
out   views, measures, and their SQL; for each queue manager its clock, its intervals, gaps and
      restarts, and the completeness of its data

This package decodes no record and opens no inputs.
"""
