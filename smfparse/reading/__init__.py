"""Files to logical records.

In comes an SMF file in any framing and packing; out go chunks of records, contiguous in a buffer,
and the damage between them. It never looks into a record beyond its header and triplets.
"""
