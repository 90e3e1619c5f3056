"""Limits of memory, reads and writes: one object, which tests make smaller."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Sizes at which reader, decoder and writers continue with the next piece.

    Only three of them change results. `max_spanned` and `free_bytes` limit the output of a few
    damaged or hostile bytes, and the rest becomes damage. `look_back_bytes` limits the distance of
    records that depend on each other.

    chunk_bytes      bytes of an input that are processed together, approximately
    max_spanned      maximum bytes of a spanned record; SMF itself stops at 32,756
    free_bytes       bytes that any compressed input may expand to, however small it is
    look_back_bytes  maximum distance, in bytes of the decompressed source, from a record back to
                     the record on which it depends: the 116/1 of a 116/2, or for a record without
                     UTC a record with the offset of its system; the latter also forward
    epoch_bytes      bytes of input after which all tables yield a batch
    epoch_cells      values of one table, or of the key columns, after which all tables also yield
                     a batch
    least_unit       bytes of input below which one process does all work, because starting another
                     process takes longer
    whole_bytes      bytes of input up to which whole tables are decoded for queries: this takes
                     less time than loading the library that passes columns to DuckDB
    most_unit        maximum bytes of input that a process decodes as one unit if its rows must wait
                     for those of earlier units
    most_task        maximum bytes of input that one task of an executor writes as files of a
                     dataset
    fingerprints     fingerprints of records in memory before they are written: 16 bytes each
    group_rows       rows of a full row group of Parquet, which DuckDB scans as one piece
    file_rows        rows of a dataset file that is not combined with others
    held_bytes       bytes that all tables together buffer until they fill a row group
    open_files       Parquet files that a process has open at a time
    slice_bytes      bytes of the rows of a report above which it is made in slices
    slice_sections   approximate number of sections per slice
    merged           fingerprints (64 MB) above which a file of fingerprints is not combined
    wait_seconds     seconds that an append waits for another writer of its dataset
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
        """Bytes of an input in memory: enough for two spanned records of maximum length."""
        return max(self.chunk_bytes, 2 * self.max_spanned)


LIMITS = Limits()
"""The default limits."""
