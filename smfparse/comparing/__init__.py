"""Comparison of two sets of records. In: two `Inputs`. Out: the cost of calls on each side.

Metrics are declared in `measures.toml` and added up by `compare.sql`. This package decodes nothing,
opens no input and writes no output.
"""
