"""The one-screen summary: intervals, findings, and metrics over time.

In: a catalog. Out: a `Day` per queue manager, and a document. Lines are declared in `definitions`,
findings come from `advice`. This package opens no inputs.
"""
