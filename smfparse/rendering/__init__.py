"""How results are shown: a `Document` comes in, lines of a format go out, as its rows come.

A new output format is one module here and a row of `formats.FORMATS`. What a figure or a report
means is not known here; a document is read once, and nothing is written to files.
"""
