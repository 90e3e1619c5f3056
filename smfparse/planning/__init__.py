"""Capacity: typed functions from figures to figures, with IBM's published points. No SMF, no I/O.

In: numbers, or the inputs of a planner. Out: a `Plan`, whose figures have their formulas, sources,
valid range and limitations. Published tables are read as package data
through `published` alone; nothing here knows a file or a query.
"""
