"""Capacity of a site: the planners of `planning` with values measured in its SMF data.

In: a planner, the inputs that a user gives, and a catalog or none. Out: an `Answer` for each queue
manager, and the document of the answers. Formulas are in `planning`, the SQL of measurements is in
`definitions`. This package opens no inputs.
"""
