"""Advice: rules over the tables, their findings, and the diagnoses that explain the findings.

In: a catalog. Out: findings. Rules are declarations in `definitions`. This package opens no inputs.
"""
