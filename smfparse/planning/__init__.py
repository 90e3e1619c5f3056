"""Capacity: typed functions over numbers, with IBM's published measurements. No SMF data.

In: numbers, or the inputs of a planner. Out: a `Plan`: figures with formulas, sources, valid range
and limitations. Published tables are package data, read only by `published`. No other file is read,
and no query is run.
"""
