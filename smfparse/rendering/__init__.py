"""Output formats. In: a `Document`. Out: its lines in a format, one by one, or a workbook.

A new output format is a module in this package and a row of `formats.FORMATS`. This package does
not interpret values. It reads a document once, and opens no files for output.
"""
