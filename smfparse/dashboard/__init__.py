"""A day in one HTML page, and single charts as SVG.

In: a catalog. Out: lines of HTML or SVG. Panels are declared in `definitions`, findings come from
`advice`. This package opens no inputs, and its pages load nothing from a network.
"""
