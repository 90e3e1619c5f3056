"""How much is held, read or written at once: one object, which tests make smaller."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Sizes at which reader, decoder and writers move on; no result depends on them.

    chunk_bytes   bytes of an input that are looked at at once, about
    max_spanned   bytes beyond which no spanned record grows; SMF itself stops at 32,756
    group_rows    rows of a full row group of Parquet: what DuckDB scans as one piece
    held_bytes    bytes that all tables together hold back until they are a row group
    open_files    Parquet files that a process has open at a time
    merged        fingerprints beyond which files of them are not put together: 64 MB
    """

    chunk_bytes: int = 16 << 20
    max_spanned: int = 1 << 20
    group_rows: int = 122_880
    held_bytes: int = 32 << 20
    open_files: int = 64
    merged: int = 1 << 22


LIMITS = Limits()
"""Those that count unless others are given."""
