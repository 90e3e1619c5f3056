"""Planners: capacity calculations from values that IBM published or that SMF data contains.

in    a planner, inputs from the user, and optionally a catalog of SMF data
out   a `Plan`: figures with formulas, sources, valid range and limitations; or an `Answer` for each
      queue manager

Formulas are in the module of each planner, published tables in `published.json`, and the SQL of
measurements in `definitions`. This package opens no inputs.
"""
