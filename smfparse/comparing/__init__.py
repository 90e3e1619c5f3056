"""Comparison of two sets of records. In: two `Inputs`. Out: the changes from one to the other.

Metrics are declared in `measures.toml` and added up by `compare.sql`. This package decodes nothing,
opens no input and writes no output.
"""
