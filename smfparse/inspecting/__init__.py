"""What is in the data, for a person: counts of records, one record byte by byte, names explained.

Open inputs come in, or a chunk of records, or a name; documents and lines go out. Nothing here
works out figures: that is what reports and SQL are for.
"""
