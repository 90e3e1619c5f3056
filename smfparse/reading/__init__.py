"""Files to logical records.

In: the place of an SMF file, a path or a URL, with any record format and compression. Out: chunks
of records, contiguous in a buffer, and the damage between records. This package reads only headers
and triplets of records.
"""
