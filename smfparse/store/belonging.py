"""Files in a folder that belong to a dataset, and the remains of a killed run."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path
from typing import Any

from smfparse.places.kinds import Place, size_at
from smfparse.places.url import Url
from smfparse.store.database import JOURNALS, MANIFEST
from smfparse.store.hive import FOLDERS
from smfparse.store.manifest import GIVEN, RECORDS, is_own_file
from smfparse.store.targets import PARTIAL
from smfparse.tables.dictionary import table_names

_FOLDERS = ("", *(f"{each}/" for each in FOLDERS))
"""Patterns of the folders of files below the folder of a table: not partitioned, partitioned."""


def ours(folder: Place) -> list[Place]:
    """Return the files with rows or fingerprints in the folder of a dataset."""
    if isinstance(folder, Url):  # one list of all objects: one request per object takes long
        found = [each for each in folder.rglob() if not each.was_folder]
        return [each for each in found if is_own_file(each.relative_to(folder).as_posix())]
    return _files(folder, "")


def _files(folder: Path, end: str) -> list[Place]:
    rows = [
        each
        for table in table_names()
        if (folder / table).is_dir()
        for below in _FOLDERS
        for each in sorted((folder / table).glob(f"{below}part-*.parquet{end}"))
    ]
    return [*rows, *sorted((folder / RECORDS).glob(f"part-*.bin{end}"))]


def unfinished(folder: Place) -> list[Place]:
    """Return the files that are not yet moved to their final places."""
    if isinstance(folder, Url):  # remote files are written in their final places
        return []
    partial = folder / PARTIAL
    given = (each for name in GIVEN for each in sorted(partial.glob(f"{name}*")))
    return [*_files(partial, "*"), *given]


def strays(folder: Place, belong: Container[str]) -> list[Place]:
    """Return the files that a killed run left: files whose path is not in `belong`."""
    path: Any = folder
    files = [each for each in ours(path) if each.relative_to(path).as_posix() not in belong]
    return [*files, *unfinished(folder)]


def own_names() -> frozenset[str]:
    """Return the names of all files and folders of a dataset, temporary files included."""
    return frozenset([*table_names(), RECORDS, PARTIAL, MANIFEST, *JOURNALS, *GIVEN])


def has_manifest(folder: Place) -> bool:
    """Whether a folder has a manifest that is not empty: the first run was completed."""
    manifest = folder / MANIFEST
    return manifest.is_file() and size_at(manifest) > 0


def contents(folder: Place) -> set[str]:
    """Return the names in a folder, except a manifest that is still empty."""
    found = {each.name for each in folder.iterdir()}
    return found if has_manifest(folder) else found - {MANIFEST, *JOURNALS}


def interrupted(folder: Place) -> bool:
    """Whether a folder contains only the remains of an interrupted first run."""
    found = contents(folder)
    if not found or MANIFEST in found or not found <= own_names():
        return False
    if isinstance(folder, Url):
        return True
    files = (each for each in folder.rglob("*") if each.is_file())
    return PARTIAL in found or all(each.name in (MANIFEST, *JOURNALS) for each in files)


def is_dataset(folder: Place) -> bool:
    """Whether a folder is a dataset, or was left by an interrupted first run."""
    try:
        return has_manifest(folder) or interrupted(folder)
    except OSError:
        return False


def own_folders() -> list[str]:
    """Return the names of the folders in a dataset, except PARTIAL."""
    return [*table_names(), RECORDS]
