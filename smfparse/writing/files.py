"""Tables as files for other tools: one a table in CSV, JSON lines, Arrow or Parquet.

Rows are written as they come, a batch at a time.
"""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from pathlib import Path

from smfparse.inputs import Inputs
from smfparse.store import PARTIAL, Folder
from smfparse.tables import Wanted, table_names
from smfparse.writing.file_sets import write_set
from smfparse.writing.formats import FILE_FORMATS, writer


def write_files(
    inputs: Inputs, folder: Path, file_format: str, wanted: Wanted, *, force: bool = False
) -> dict[str, int]:
    """Write tables as `folder`/<table>.<file_format>; return how many rows each has.

    file_format  one of FILE_FORMATS

    Raises RequestError where `folder` exists, unless it is empty or has nothing but such files and
    `force` is given, and OutputError where it cannot be written.
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
    """Write tables under temporary names; return how many rows each has."""
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
    """Return the names that files of tables may have."""
    return {f"{table}.{ending}" for table in table_names() for ending in FILE_FORMATS}
