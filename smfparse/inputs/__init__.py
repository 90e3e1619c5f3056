"""Open inputs.

In: names and `ReadOptions`. Out: tables as streams of batches, and a log of damage and duplicates.
This package decodes no record itself, and writes only temporary files.
"""
