"""The HTML page of a day with findings and charts, and single charts as SVG.

In: a catalog. Out: lines of HTML or SVG. Panels (charts) are declared in `definitions`, findings
come from `advice`. This package opens no inputs, and its pages load nothing from a network.
"""
