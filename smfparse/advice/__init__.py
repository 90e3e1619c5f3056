"""Advice: rules over the tables, what crossed them when, and which cause explains it.

In: a catalog. Out: findings. Rules are declarations in `definitions`; nothing here opens inputs.
"""
