"""Tables as files for other tools: one file per table, in CSV, JSON lines, Arrow or Parquet.

Batches are written to files with temporary names. When all rows are written, the files get their
final names and replace earlier files. The folder itself is not replaced: it can be a link, a mount
point or the current folder.
"""

from __future__ import annotations

import gzip
import os
import re
from collections.abc import Callable, Collection
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TypeAlias

import polars as pl
import pyarrow as pa

from smfparse.decoding.arrow import Batch, Wanted, plain_schema
from smfparse.decoding.dictionary import local_columns, table_names
from smfparse.inputs.opening import Inputs
from smfparse.rendering.csv import of_frame
from smfparse.rendering.json import json_lines
from smfparse.store.folder import Folder, NewFile
from smfparse.store.parquet import TableWriter
from smfparse.store.targets import PARTIAL, check_folder, in_folder
from smfparse.writing.formats import FILE_FORMATS, writer

_NULL = re.compile(r',"@?\w+":null')
"""JSON of a NULL that is not the first value of a row. In texts, quotation marks are escaped."""
ColumnNames: TypeAlias = frozenset[str] | None
"""Names of requested columns of a table; None: all columns."""


@dataclass(frozen=True)
class TableFile:
    """A file to be written.

    create      function that opens the new file, and returns the file descriptor
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
        """Complete and close the file."""


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


_ALREADY = "the folder already contains tables; force=True replaces them"


def write_set(
    folder: Path,
    known: Collection[str],
    write: Callable[[Folder], Collection[str]],
    *,
    force: bool = False,
) -> None:
    """Write the files of a folder, and remove earlier files with other known names.

    known  all possible names of the files
    write  function that writes files with the suffix PARTIAL, and returns names without the suffix

    Raises RequestError if `folder` contains files, unless all have names in `known` and `force` is
    given, and OutputError if a file cannot be written.
    """
    check_folder(folder, lambda found: _has_files(found, known), _ALREADY, force)
    with in_folder(folder):
        place = Folder(folder)
        _clear(place, known)
        try:
            names = write(place)
            for name in names:
                place.move(f"{name}{PARTIAL}", name)
            for old in set(known) - set(names):
                place.remove(old)
        finally:
            _clear(place, known)


def _clear(folder: Folder, known: Collection[str]) -> None:
    for name in known:
        with suppress(OSError):
            folder.remove(f"{name}{PARTIAL}")


def _has_files(folder: Path, known: Collection[str]) -> bool | None:
    """Whether a folder contains only `known` files; None: it contains at most temporary files."""
    parts = {f"{name}{PARTIAL}" for name in known}
    found = {each.name for each in folder.iterdir()} - parts
    return found <= set(known) if found else None


def write_files(
    inputs: Inputs, folder: Path, file_format: str, wanted: Wanted, *, force: bool = False
) -> dict[str, int]:
    """Write tables as `folder`/<table>.<file_format>; return {table: number of rows}.

    file_format  key of FILE_FORMATS

    Raises RequestError if `folder` contains files, unless all are files of tables and `force` is
    given, and OutputError if a file cannot be written.
    """
    rows: dict[str, int] = {}

    def write(place: Folder) -> set[str]:
        rows.update(_write_parts(inputs, place, file_format, wanted))
        return {f"{table}.{file_format}" for table in wanted}

    write_set(folder, _file_names(), write, force=force)
    return rows


def _write_parts(
    inputs: Inputs, folder: Folder, file_format: str, wanted: Wanted
) -> dict[str, int]:
    rows = dict.fromkeys(wanted, 0)
    group_rows = inputs.options.limits.group_rows
    with ExitStack() as opened:
        writers = {}
        for table, columns in wanted.items():
            create = partial(folder.create, f"{table}.{file_format}{PARTIAL}")
            writers[table] = writer(file_format, table, columns, create, group_rows)
            opened.callback(writers[table].close)
        for table, batch in inputs.batches(wanted):
            writers[table].add(batch)
            rows[table] += batch.num_rows
    return rows


def _file_names() -> set[str]:
    return {f"{table}.{ending}" for table in table_names() for ending in FILE_FORMATS}
