"""Limits of memory, reads and writes, in one object; tests use smaller limits."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Sizes of pieces in which input is read, decoded and written.

    Only three of the limits change results. `max_spanned` and `free_bytes` limit the output from
    damaged or hostile input; input beyond the limit is damage. `look_back_bytes` limits the
    distance of records that depend on each other.

    chunk_bytes      approximate bytes of an input that are processed together
    max_spanned      maximum bytes of a spanned record; the maximum that SMF writes is 32,756
    free_bytes       bytes up to which compressed inputs of any size may expand
    look_back_bytes  maximum distance, in bytes of the decompressed source, between a record and the
                     record on which it depends: the earlier 116/1 record of a 116/2 record, or an
                     earlier or later record with the UTC offset of its system
    epoch_bytes      bytes of input after which all tables yield a batch
    epoch_cells      values of one table, or of the key columns, after which all tables yield a
                     batch
    least_unit       minimum bytes of input for several processes: starting a process takes time
    whole_bytes      maximum bytes of input for which whole tables are decoded for queries: this
                     takes less time than loading the library that passes columns to DuckDB
    most_unit        maximum bytes of input that a process decodes as one unit if rows must wait for
                     rows of earlier units
    most_task        maximum bytes of input that one task of an executor writes as files of a
                     dataset
    fingerprints     number of fingerprints (16 bytes each) in memory at which they are written
    group_rows       rows of a full row group of Parquet, which DuckDB scans as one piece
    file_rows        minimum rows of a dataset file that is not combined with other files
    held_bytes       maximum bytes of buffered rows of all tables together
    open_files       maximum number of open Parquet files of a process
    slice_bytes      bytes of the rows of a report above which the report is made in slices
    slice_sections   approximate number of sections per slice
    merged           number of fingerprints (64 MB) above which their file is not combined
    wait_seconds     maximum seconds that an append waits for another writer of the dataset
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
        """Bytes of an input in memory: at least two spanned records of maximum length."""
        return max(self.chunk_bytes, 2 * self.max_spanned)


LIMITS = Limits()
"""The default limits."""
