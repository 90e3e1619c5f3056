"""The one-screen summary: intervals, findings, and metrics over time.

In: a catalog. Out: a `Summary` and its document. Lines are declarations in `definitions`, findings
come from `advice`. This package opens no inputs.
"""
