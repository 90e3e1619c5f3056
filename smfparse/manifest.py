"""What is in the folder of a dataset: its manifest, and which files belong to it.

    smfparse.json              the manifest, written last: it names every other file
    views.sql                  the tables for DuckDB
    <table>/part-*.parquet     rows; partitioned: <table>/date=.../qmgr=.../part-*.parquet
    .records/part-*.bin        fingerprints of the records, for what is added later

A file that the manifest does not name is left from a run that was killed.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeAlias

from smfparse.columns import table_names
from smfparse.errors import InputError, unwritable

Manifest: TypeAlias = dict[str, Any]
"""What `smfparse.json` holds: docs/dataset.md."""

MANIFEST = "smfparse.json"
VIEWS = "views.sql"
RECORDS = ".records"
PARTIAL = ".partial"
FORMAT = 3
HIVE = "date=*/qmgr=*"
"""Folders below that of a partitioned table."""
_PARTS = ("part-*.parquet", f"{HIVE}/part-*.parquet")


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of a dataset. Raises InputError where it is none that is understood."""
    try:
        found = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{folder}: {MANIFEST} cannot be read: {error}") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise InputError(f"{folder}: a dataset of another smfparse; convert again")
    return found


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write a manifest under its temporary name."""
    text = json.dumps(manifest, indent=2) + "\n"
    (folder / f"{MANIFEST}{PARTIAL}").write_text(text, encoding="utf-8")


def named(manifest: Manifest) -> Iterator[str]:
    """Yield every file that belongs to a dataset but manifest and views, as from its folder."""
    for names in manifest["files"].values():
        yield from names
    yield from manifest["records"] or ()


def ours(folder: Path, suffix: str = "") -> list[Path]:
    """Return the files of rows and fingerprints in a folder: nothing else there is ours.

    suffix  what stands behind their names
    """
    found = [
        each
        for table in table_names()
        for pattern in _PARTS
        for each in sorted((folder / table).glob(f"{pattern}{suffix}"))
    ]
    return [*found, *sorted((folder / RECORDS).glob(f"part-*.bin{suffix}"))]


def unfinished(folder: Path) -> list[Path]:
    """Return the files that still have their temporary names, the manifest last."""
    single = (folder / f"{each}{PARTIAL}" for each in (VIEWS, MANIFEST))
    return [*ours(folder, PARTIAL), *(each for each in single if each.exists())]


def strays(folder: Path) -> list[Path]:
    """Return the files that a run which was killed left: those that the manifest does not name."""
    if not (folder / MANIFEST).exists():
        return [*ours(folder), *unfinished(folder)]
    try:
        belong = {folder / each for each in named(read_manifest(folder))}
    except InputError:
        return unfinished(folder)
    return [*(each for each in ours(folder) if each not in belong), *unfinished(folder)]


def interrupted(folder: Path) -> bool:
    """Whether there is what writing leaves when it is interrupted, and nothing else."""
    single = {name + suffix for name in (MANIFEST, VIEWS) for suffix in ("", PARTIAL)}
    found = {each.name for each in folder.iterdir()}
    if not found or not found <= {*table_names(), RECORDS, *single}:
        return False
    return bool(unfinished(folder)) or not any(each.is_file() for each in folder.rglob("*"))


def is_dataset(folder: Path) -> bool:
    """Whether a folder is a dataset, or one that was not finished."""
    try:
        return (folder / MANIFEST).is_file() or interrupted(folder)
    except OSError:
        return False


def own_folders(folder: Path, files: Iterable[Path]) -> list[Path]:
    """Return the folders of files, and of all tables, below a dataset's; inner ones first."""
    found = {folder / each for each in (*table_names(), RECORDS)}
    for file in files:
        found.update(each for each in file.parents if each.is_relative_to(folder))
    return sorted(found - {folder}, key=lambda each: (-len(each.parts), each))


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Give a temporary path for a file that takes the place of `target` when all is well, or goes.

    A link stays: the file that it leads to is replaced. Raises OutputError where that cannot be
    done.
    """
    place = target.resolve()
    _remove_parts(place)
    part = place.with_name(f".{place.name}.{os.getpid()}{PARTIAL}")
    try:
        yield part
        part.replace(place)
    except OSError as error:
        raise unwritable(target, error) from error
    finally:
        _remove_parts(place)


def _remove_parts(place: Path) -> None:
    """Remove temporary files for `place` of this process, and of those that were killed."""
    name = re.compile(rf"\.{re.escape(place.name)}\.(\d{{1,9}}){re.escape(PARTIAL)}(\.wal)?")
    with suppress(OSError):
        for each in list(place.parent.iterdir()):
            found = name.fullmatch(each.name)
            if found and not _is_at_work(int(found[1])):
                each.unlink(missing_ok=True)


def _is_at_work(process: int) -> bool:
    """Whether another process runs. On Windows nobody else can remove the file it has open."""
    if process == os.getpid() or sys.platform == "win32":
        return False
    try:
        os.kill(process, 0)
    except OSError as error:
        return isinstance(error, PermissionError)
    return True
