"""Tables as files for other tools: one a table in CSV, JSON lines, Arrow or Parquet.

Rows are written as they come, a batch at a time, under temporary names; files get theirs when all
are written. The folder itself stays what it is: a link, a mount point or where the user is.
"""

from __future__ import annotations

from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

from smfparse.inputs import Inputs
from smfparse.store import PARTIAL, Folder, check_folder, in_folder
from smfparse.tables import Wanted, table_names
from smfparse.writing.formats import FILE_FORMATS, writer

_ALREADY = "the folder has tables already; force=True replaces them"


def write_files(
    inputs: Inputs, folder: Path, file_format: str, wanted: Wanted, *, force: bool = False
) -> dict[str, int]:
    """Write tables as `folder`/<table>.<file_format>; return how many rows each has.

    file_format  one of FILE_FORMATS

    Raises RequestError where `folder` exists, unless it is empty or has nothing but such files and
    `force` is given, and OutputError where it cannot be written.
    """
    check_folder(folder, _has_tables, _ALREADY, force)
    names = {f"{table}.{file_format}" for table in wanted}
    with in_folder(folder):
        place = Folder(folder)
        _clear(place)
        try:
            rows = _write_parts(inputs, place, file_format, wanted)
            for name in names:
                place.move(f"{name}{PARTIAL}", name)
            for old in _file_names("") - names:
                place.remove(old)
        finally:
            _clear(place)
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


def _clear(folder: Folder) -> None:
    """Remove files that have temporary names."""
    for name in _file_names(PARTIAL):
        with suppress(OSError):
            folder.remove(name)


def _file_names(suffix: str) -> set[str]:
    """Return the names that files of tables may have, each with a suffix."""
    return {f"{table}.{ending}{suffix}" for table in table_names() for ending in FILE_FORMATS}


def _has_tables(folder: Path) -> bool | None:
    """Whether a folder holds files of tables and nothing else; None: nothing that stays."""
    found = {each.name for each in folder.iterdir()} - _file_names(PARTIAL)
    return found <= _file_names("") if found else None
