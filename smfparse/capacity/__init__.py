"""Capacity of a site: the planners of `planning` with what its own SMF shows.

In: a planner, what a user gives, and a catalog or none. Out: an `Answer` for each queue manager,
and their document. Formulas are in `planning`, what is measured in `definitions`; nothing here
opens inputs.
"""
