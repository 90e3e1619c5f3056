"""A copy of an SMF file without the names of its site.

In: an open SMF file, and a stream for the copy. Out: a copy with other names, and counts of the
replaced names. Only fields that contain names are decoded.
"""
