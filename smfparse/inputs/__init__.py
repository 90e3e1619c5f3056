"""Inputs that are open.

In come names and `ReadOptions`; out go tables as streams of batches, and a log of what was met.
It never decodes a record itself, and writes nothing but temporary files.
"""
