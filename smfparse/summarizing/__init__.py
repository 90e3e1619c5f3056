"""Figures of days: the one-screen summary, trends over days, and two sets of records compared.

in    a catalog of one day or several, or two `Inputs`
out   a `Day` or a `Trend` per queue manager, or the changes from one side to the other; a document

Lines are declared in `definitions/lines.toml`, figures of `compare` in `definitions/compare.toml`.
Findings come from `advice`. This package opens no inputs.
"""
