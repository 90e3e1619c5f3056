"""Formats of files, and kinds of lake tables. --help loads this module: import nothing slow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from smfparse.writing.writers import ColumnNames, Writer


class FileFormat(NamedTuple):
    """A file format for a table.

    writer  name of the class in `writers` for the format
    packed  whether the file is compressed by gzip
    """

    writer: str
    packed: bool = False


FILE_FORMATS: Mapping[str, FileFormat] = {
    "csv": FileFormat("CsvWriter"),
    "csv.gz": FileFormat("CsvWriter", packed=True),
    "jsonl": FileFormat("JsonLinesWriter"),
    "jsonl.gz": FileFormat("JsonLinesWriter", packed=True),
    "ndjson": FileFormat("EventWriter"),
    "ndjson.gz": FileFormat("EventWriter", packed=True),
    "arrow": FileFormat("ArrowWriter"),
    "parquet": FileFormat("ParquetWriter"),
}
"""Formats by the extension of the file."""

LAKES: Mapping[str, str] = {"iceberg": "Iceberg", "delta": "Delta"}
"""Name of the class by kind of lake tables; the kind is the name of its module."""


def is_lake(target: str) -> bool:
    """Whether a target names lake tables: `iceberg:...`, `delta:...`."""
    kind, colon, _ = target.partition(":")
    return bool(colon) and kind in LAKES


def writer(
    name: str, table: str, wanted: ColumnNames, create: Callable[[], int], group_rows: int
) -> Writer:
    """Return the writer of a table for a file format.

    name        key of the format in FILE_FORMATS
    wanted      columns of the table; None: all
    create      function that opens the new file, and returns the file descriptor
    group_rows  number of rows of a full row group of Parquet
    """
    chosen, writers = FILE_FORMATS[name], import_module("smfparse.writing.writers")
    target = writers.TableFile(table, wanted, create, chosen.packed, group_rows)
    found: Writer = getattr(writers, chosen.writer)(target)
    return found
