"""How much is held, read or written at once: one object, which tests make smaller."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Sizes at which reader, decoder and writers move on.

    No result depends on them but for three: `max_spanned` and `free_bytes` bound what damaged or
    hostile input can make of a few bytes, and what is beyond becomes damage; `look_back_bytes`
    bounds how far apart records are that know of each other.

    chunk_bytes      bytes of an input that are looked at at once, about
    max_spanned      bytes beyond which no spanned record grows; SMF itself stops at 32,756
    free_bytes       bytes that are unpacked from a packed input, however small it is
    look_back_bytes  bytes of the unpacked source in front of a record in which that starts which it
                     has to know of: the 116/1 of a 116/2, and for records without UTC one that has
                     the offset of their system; for these as many behind it, too
    epoch_bytes      bytes of input after which all tables give a batch
    epoch_cells      values of one table, or of key columns, after which they do as well
    least_unit       bytes of input below which processes do not share the work: each takes time to
                     set up
    whole_bytes      bytes of input up to which queries have whole tables decoded: that takes less
                     than to load what DuckDB can name columns to
    most_unit        bytes of input that a process decodes at once where its rows are kept until it
                     is their turn
    most_task        bytes of input that a task of an executor writes as files of a dataset
    fingerprints     fingerprints of records that are held before they are written: 16 bytes each
    group_rows       rows of a full row group of Parquet: what DuckDB scans as one piece
    file_rows        rows of a file of a dataset that is not put together with others
    held_bytes       bytes that all tables together hold back until they are a row group
    open_files       Parquet files that a process has open at a time
    slice_bytes      bytes of the rows read for a report beyond which it is made slice by slice
    slice_sections   sections that are about as many as a slice has
    merged           fingerprints beyond which files of them are not put together: 64 MB
    wait_seconds     seconds that an append waits for the one that writes to its dataset
    """

    chunk_bytes: int = 16 << 20
    max_spanned: int = 1 << 20
    free_bytes: int = 64 << 20
    look_back_bytes: int = 64 << 20
    epoch_bytes: int = 32 << 20
    epoch_cells: int = 1 << 22
    least_unit: int = 32 << 20
    whole_bytes: int = 8 << 20
    most_unit: int = 256 << 20
    most_task: int = 1 << 30
    fingerprints: int = 1 << 22
    group_rows: int = 122_880
    file_rows: int = 8 * 122_880
    held_bytes: int = 32 << 20
    open_files: int = 64
    slice_bytes: int = 8 << 20
    slice_sections: int = 2000
    merged: int = 1 << 22
    wait_seconds: float = 3600

    @property
    def window_bytes(self) -> int:
        """Bytes of an input that are looked at at once: a spanned record always fits twice."""
        return max(self.chunk_bytes, 2 * self.max_spanned)


LIMITS = Limits()
"""The limits where no others are handed in."""
