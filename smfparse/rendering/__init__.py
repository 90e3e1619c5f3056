"""Output formats. In: a `Document`. Out: lines in a format, written as the rows arrive.

A new output format is one module here and a row of `formats.FORMATS`. This package does not
interpret figures or reports. It reads a document once, and writes no files.
"""
