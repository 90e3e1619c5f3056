"""Planners: functions over numbers, published by IBM or measured in SMF data.

in    numbers, or a planner, the inputs that a user gives, and a catalog or none
out   a `Plan`: figures with formulas, sources, valid range and limitations; or an `Answer` for each
      queue manager

Formulas are in the module of each planner, published tables in `published.json`, and the SQL of
measurements in `definitions`. This package opens no inputs.
"""
