"""Advice: rules over the tables, findings of rules, and diagnoses that explain findings.

In: a catalog. Out: findings. Rules are declarations in `definitions`. This package opens no inputs.
"""
