"""A copy of an SMF file without the names of its site.

In: an open SMF file, and where the copy goes. Out: the same bytes in the same framing, with other
names, and a count of these. Nothing is decoded but what names stand in.
"""
