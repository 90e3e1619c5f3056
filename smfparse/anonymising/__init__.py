"""A copy of an SMF file without the names of its site.

In: an open SMF file, and the path of the copy. Out: a copy of all bytes, but with other names, and
the number of replaced names. Only fields that contain names are decoded.
"""
