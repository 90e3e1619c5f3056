"""Files to logical records.

In: an SMF file with any record format and compression. Out: chunks of records, contiguous in a
buffer, and the damage between records. This package reads only headers and triplets of records.
"""
