"""Capacity: typed functions from figures to figures, with IBM's published points. No SMF, no I/O.

In: numbers, or the inputs of a planner. Out: a `Plan`, whose figures have their formulas, sources,
valid range and limitations. Published tables are package data, and only `published` reads them. No
other file is read, and no query is run.
"""
