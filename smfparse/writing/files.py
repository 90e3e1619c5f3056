"""Tables as files for other tools: one a table in CSV, JSON lines, Arrow or Parquet.

Rows are written as they come, a batch at a time, under temporary names; files get theirs when all
are written. The folder itself stays what it is: a link, a mount point or where the user is.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TypeAlias

import polars as pl
import pyarrow as pa

from smfparse.inputs import Inputs
from smfparse.limits import LIMITS
from smfparse.rendering import FILES, of_frame
from smfparse.store import PARTIAL, TableWriter, check_folder, in_folder
from smfparse.tables import Batch, Wanted, plain_schema, table_names

ColumnNames: TypeAlias = frozenset[str] | None
"""Columns of a table that are wanted; None: all."""


class Writer(Protocol):
    """Writes one table."""

    def add(self, batch: Batch) -> None:
        """Write rows."""

    def close(self) -> None:
        """End the file."""


class _Text:
    """Writes a table as text, packed by gzip or not."""

    def __init__(self, table: str, wanted: ColumnNames, path: Path, packed: bool) -> None:
        self._schema = plain_schema(table, wanted)
        file: Any = path.open("wb")
        self._raw: BinaryIO = file
        self._file: Any = gzip.GzipFile("", "wb", 6, file, mtime=0) if packed else file

    def close(self) -> None:
        self._file.close()
        self._raw.close()

    def _frame(self, batch: Batch) -> pl.DataFrame:
        return pl.DataFrame(pa.Table.from_batches([batch.cast(self._schema)]))


class _Csv(_Text):
    """Writes a table as CSV: names of columns, then rows."""

    def __init__(self, table: str, wanted: ColumnNames, path: Path, packed: bool) -> None:
        super().__init__(table, wanted, path, packed)
        self._file.write(of_frame(pl.DataFrame(self._schema.empty_table())).encode())

    def add(self, batch: Batch) -> None:
        self._file.write(of_frame(self._frame(batch), header=False).encode())


class _JsonLines(_Text):
    """Writes a table as JSON lines: an object a row."""

    def add(self, batch: Batch) -> None:
        self._frame(batch).write_ndjson(self._file)


class _Arrow:
    """Writes a table as an Arrow IPC file, which can be mapped to memory."""

    def __init__(self, table: str, wanted: ColumnNames, path: Path) -> None:
        self._schema = plain_schema(table, wanted)
        self._writer = pa.ipc.new_file(path, self._schema)

    def add(self, batch: Batch) -> None:
        self._writer.write_batch(batch.cast(self._schema))

    def close(self) -> None:
        self._writer.close()


class _Parquet:
    """Writes a table as a Parquet file."""

    def __init__(self, table: str, wanted: ColumnNames, path: Path) -> None:
        self._writer = TableWriter(table, path, LIMITS.group_rows, wanted)

    def add(self, batch: Batch) -> None:
        self._writer.add(batch, batch.nbytes)

    def close(self) -> None:
        self._writer.close()


_TEXTS: Mapping[str, Callable[..., Writer]] = {"csv": _Csv, "jsonl": _JsonLines}
_BINARIES: Mapping[str, Callable[[str, ColumnNames, Path], Writer]] = {
    "arrow": _Arrow,
    "parquet": _Parquet,
}


def _writes(file_format: str) -> Callable[[str, ColumnNames, Path], Writer]:
    """Return what writes a table in one of FILES; a text ends in .gz where it is packed."""
    kind, _, packing = file_format.partition(".")
    if kind in _TEXTS:
        return partial(_TEXTS[kind], packed=bool(packing))
    return _BINARIES[kind]


FORMATS = {each: _writes(each) for each in FILES}
"""The end of a file name, to what writes such a file."""
_ALREADY = "the folder has tables already; force=True replaces them"


def write_files(
    inputs: Inputs, folder: Path, file_format: str, wanted: Wanted, *, force: bool = False
) -> dict[str, int]:
    """Write tables as `folder`/<table>.<file_format>; return how many rows each has.

    file_format  one of FORMATS

    Raises RequestError where `folder` exists, unless it is empty or has nothing but such files and
    `force` is given, and OutputError where it cannot be written.
    """
    check_folder(folder, _has_tables, _ALREADY, force)
    names = {f"{table}.{file_format}" for table in wanted}
    with in_folder(folder):
        try:
            rows = _write_parts(inputs, folder, file_format, wanted)
            for name in names:
                (folder / f"{name}{PARTIAL}").replace(folder / name)
            for old in _file_names("") - names:
                (folder / old).unlink(missing_ok=True)
        finally:
            _clear(folder)
    return rows


def _write_parts(inputs: Inputs, folder: Path, file_format: str, wanted: Wanted) -> dict[str, int]:
    """Write tables under temporary names; return how many rows each has."""
    rows = dict.fromkeys(wanted, 0)
    with ExitStack() as opened:
        writers = {}
        for table, columns in wanted.items():
            writer = FORMATS[file_format](
                table, columns, folder / f"{table}.{file_format}{PARTIAL}"
            )
            opened.callback(writer.close)
            writers[table] = writer
        for table, batch in inputs.batches(wanted):
            writers[table].add(batch)
            rows[table] += batch.num_rows
    return rows


def _clear(folder: Path) -> None:
    """Remove files that still have temporary names."""
    for name in _file_names(PARTIAL):
        with suppress(OSError):
            (folder / name).unlink(missing_ok=True)


def _file_names(suffix: str) -> set[str]:
    """Return the names that files of tables may have, each with a suffix."""
    return {f"{table}.{ending}{suffix}" for table in table_names() for ending in FORMATS}


def _has_tables(folder: Path) -> bool | None:
    """Whether a folder holds files of tables and nothing else; None: nothing that stays."""
    found = {each.name for each in folder.iterdir()} - _file_names(PARTIAL)
    return found <= _file_names("") if found else None
