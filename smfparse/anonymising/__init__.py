"""A copy of an SMF file without the names of its site.

In: an open SMF file, and the path of the copy. Out: the same bytes in the same framing, with other
names, and the number of replaced names. Only the fields that contain names are decoded.
"""
