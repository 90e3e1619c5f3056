"""Capacity: typed functions over numbers, with IBM's published measurements. No SMF data, no I/O.

In: numbers, or the inputs of a planner. Out: a `Plan`: figures with formulas, sources, valid range
and limitations. Published tables are package data, and only `published` reads them. No
other file is read, and no query is run.
"""
