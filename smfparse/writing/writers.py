"""Writers of tables, batch by batch: CSV, JSON lines, Arrow and Parquet."""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, BinaryIO, Protocol, TypeAlias

import polars as pl
import pyarrow as pa

from smfparse.rendering.csv import of_frame
from smfparse.rendering.json import json_lines
from smfparse.store.folder import NewFile
from smfparse.store.parquet import TableWriter
from smfparse.tables.arrow import Batch, plain_schema
from smfparse.tables.dictionary import local_columns

_NULL = re.compile(r',"@?\w+":null')
"""A null in JSON that is not the first value of a row. In texts, quotation marks are escaped."""
ColumnNames: TypeAlias = frozenset[str] | None
"""Names of requested columns of a table; None: all."""


@dataclass(frozen=True)
class TableFile:
    """A file to be written.

    create      function that opens the new file, and returns its descriptor
    packed      whether a text file is compressed by gzip
    group_rows  number of rows of a full row group of Parquet
    """

    table: str
    wanted: ColumnNames
    create: Callable[[], int]
    packed: bool
    group_rows: int

    @property
    def schema(self) -> pa.Schema:
        """Columns of the file."""
        return plain_schema(self.table, self.wanted)


class Writer(Protocol):
    """Writes one table."""

    def add(self, batch: Batch) -> None:
        """Write rows."""

    def close(self) -> None:
        """End the file."""


class _TextWriter:
    """Writes a table as text, compressed by gzip or not."""

    def __init__(self, target: TableFile) -> None:
        self._schema = target.schema
        file: Any = os.fdopen(target.create(), "wb")
        self._raw: BinaryIO = file
        self._file: Any = gzip.GzipFile("", "wb", 6, file, mtime=0) if target.packed else file

    def close(self) -> None:
        self._file.close()
        self._raw.close()

    def _frame(self, batch: Batch) -> pl.DataFrame:
        return pl.DataFrame(pa.Table.from_batches([batch.cast(self._schema)]))


class CsvWriter(_TextWriter):
    """Writes a table as CSV: names of columns, then rows."""

    def __init__(self, target: TableFile) -> None:
        super().__init__(target)
        self._file.write(of_frame(pl.DataFrame(self._schema.empty_table())).encode())

    def add(self, batch: Batch) -> None:
        self._file.write(of_frame(self._frame(batch), header=False).encode())


class JsonLinesWriter(_TextWriter):
    """Writes a table as JSON lines: one object per row."""

    def add(self, batch: Batch) -> None:
        self._file.write(json_lines(self._frame(batch), local_columns()).encode())


class EventWriter(_TextWriter):
    """Writes a table as events for Elastic and Splunk: with `@timestamp`, and without NULLs."""

    def __init__(self, target: TableFile) -> None:
        super().__init__(target)
        self._table = pl.lit(target.table).alias("table")

    def add(self, batch: Batch) -> None:
        frame = self._frame(batch)
        lines = json_lines(frame.select(self._table, *_moment(frame), pl.all()), local_columns())
        self._file.write(_NULL.sub("", lines).encode())


def _moment(frame: pl.DataFrame) -> list[pl.Expr]:
    """Return the UTC time of rows: `time`, otherwise the SMF time; []: the table has neither."""
    names, known = frame.columns, []
    if "time" in names:
        known.append(pl.col("time"))
    if "smf_time" in names and "utc_offset" in names:
        local = pl.col("smf_time") - pl.duration(seconds=pl.col("utc_offset"))
        known.append(local.dt.replace_time_zone("UTC"))
    if not known:
        return []
    return [pl.coalesce(known).dt.to_string("%Y-%m-%dT%H:%M:%S%.6fZ").alias("@timestamp")]


class ArrowWriter:
    """Writes a table as an Arrow IPC file, which can be mapped to memory."""

    def __init__(self, target: TableFile) -> None:
        self._schema = target.schema
        self._file = os.fdopen(target.create(), "wb")
        self._writer = pa.ipc.new_file(self._file, self._schema)

    def add(self, batch: Batch) -> None:
        self._writer.write_batch(batch.cast(self._schema))

    def close(self) -> None:
        self._writer.close()
        self._file.close()


class ParquetWriter:
    """Writes a table as a Parquet file."""

    def __init__(self, target: TableFile) -> None:
        self._writer = TableWriter(
            target.table, lambda: NewFile(target.create()), target.group_rows, target.wanted
        )

    def add(self, batch: Batch) -> None:
        self._writer.add(batch, batch.nbytes)

    def close(self) -> None:
        self._writer.close()
