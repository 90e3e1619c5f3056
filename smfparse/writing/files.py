"""Tables as files for other tools: one file per table, in CSV, JSON lines, Arrow or Parquet.

Rows are written as they arrive, batch by batch, to files with temporary names. When all rows are
written, the files get their final names and replace earlier files. The folder itself is not
replaced: it can be a link, a mount point or the current folder.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

from smfparse.inputs.opening import Inputs
from smfparse.store.folder import Folder
from smfparse.store.targets import PARTIAL, check_folder, in_folder
from smfparse.tables.arrow import Wanted
from smfparse.tables.dictionary import table_names
from smfparse.writing.formats import FILE_FORMATS, writer

_ALREADY = "the folder already contains tables; force=True replaces them"


def write_set(
    folder: Path,
    known: Collection[str],
    write: Callable[[Folder], Collection[str]],
    *,
    force: bool = False,
) -> None:
    """Write the files of a folder.

    known  all possible names of these files
    write  function that writes files with the suffix PARTIAL, and returns their names without it

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
    """Write tables as `folder`/<table>.<file_format>; return the number of rows by table.

    file_format  one of FILE_FORMATS

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
