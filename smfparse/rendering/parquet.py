"""The format Parquet: rows, written as they arrive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

_GROUP_BYTES = 16 << 20
"""Minimum size of a row group, in bytes of Arrow."""


def write_parquet(parts: Iterable[pa.Table], file: BinaryIO) -> int:
    """Write tables of one schema (at least one) one after another; return the number of rows."""
    groups, rows = _groups(parts), 0
    first = next(groups)
    with pq.ParquetWriter(file, first.schema) as writer:
        for group in chain([first], groups):
            writer.write_table(group)
            rows += group.num_rows
    return rows


def _groups(parts: Iterable[pa.Table]) -> Iterator[pa.Table]:
    held: list[Any] = []
    size = 0
    for part in parts:
        held.append(part)
        size += part.nbytes
        if size >= _GROUP_BYTES:
            yield pa.concat_tables(held)
            held, size = [], 0
    if held:
        yield pa.concat_tables(held)
