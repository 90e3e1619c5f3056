"""The one-screen summary of a day, trends over days, and the comparison of two sets of records.

In: a catalog, or two `Inputs`. Out: a `Day` or a `Trend` per queue manager, or the changes from one
side to the other; a document. A line is a figure of the summary, declared in
`definitions/lines.toml`; figures of `compare` are declared in `definitions/compare.toml`.
Findings come from `advice`. This package opens no inputs.
"""
