"""Files in a folder that belong to a dataset, and the remains of a killed run."""

from __future__ import annotations

import re

from smfparse.errors import InputError
from smfparse.places import Place, Url
from smfparse.store.hive import FOLDERS
from smfparse.store.locking import LOCK
from smfparse.store.manifest import EARLIER, GIVEN, MANIFEST, RECORDS, every_file
from smfparse.store.shapes import is_own_file
from smfparse.store.targets import PARTIAL
from smfparse.tables import table_names

_FOLDERS = ("", *(f"{each}/" for each in FOLDERS))
"""Folders of rows below that of a table: whole, partitioned."""
_RUN = re.compile("[0-9a-f]{32}")
"""The name of a run in object storage."""


def ours(folder: Place) -> list[Place]:
    """Return the files of rows, fingerprints and earlier parts in a folder: these are ours."""
    if isinstance(folder, Url):
        return _listed(folder)
    found = [
        each
        for table in table_names()
        if (folder / table).is_dir()
        for below in _FOLDERS
        for each in sorted((folder / table).glob(f"{below}part-*.parquet"))
    ]
    patterns = ("part-*.json", "index-*.json", "keys-*.bin")
    parts = [each for some in patterns for each in sorted((folder / EARLIER).glob(some))]
    return [*found, *sorted((folder / RECORDS).glob("part-*.bin")), *parts]


def _listed(folder: Url) -> list[Place]:
    """Return what `ours` does, by one list of all that is there: to ask for each takes long."""
    found = [each for each in folder.rglob() if not each.was_folder]
    return [each for each in found if is_own_file(each.relative_to(folder).as_posix())]


def unfinished(folder: Place) -> list[Place]:
    """Return the files that are not in their places yet, the manifest last."""
    return [each for partial in partials(folder) for each in _below(folder / partial)]


def partials(folder: Place) -> list[str]:
    """Return the folders of files without places: in object storage each run has its own."""
    if not isinstance(folder, Url):
        return [PARTIAL]
    inside = sorted(each.name for each in (folder / PARTIAL).iterdir())
    return [PARTIAL, *(f"{PARTIAL}/{each}" for each in inside if _RUN.fullmatch(each))]


def _below(partial: Place) -> list[Place]:
    single = (partial / each for each in (*GIVEN, MANIFEST))
    return [*ours(partial), *(each for each in single if each.exists())]


def strays(folder: Place) -> list[Place]:
    """Return the files that a run which was killed left: those that the manifest does not name."""
    if not (folder / MANIFEST).exists():
        return [*ours(folder), *unfinished(folder)]
    try:
        belong = {folder / each for each in every_file(folder)}
    except InputError:
        return unfinished(folder)
    return [*(each for each in ours(folder) if each not in belong), *unfinished(folder)]


def own_names() -> frozenset[str]:
    """Return the names of all that a dataset has in its folder, and while it is written."""
    return frozenset([*table_names(), RECORDS, EARLIER, PARTIAL, MANIFEST, *GIVEN, LOCK])


def contents(folder: Place) -> set[str]:
    """Return the names of what is in a folder, less the lock of its writer."""
    return {each.name for each in folder.iterdir()} - {LOCK}


def interrupted(folder: Place) -> bool:
    """Whether there is what writing leaves when it is interrupted, and nothing else."""
    found = contents(folder)
    if not found or not found <= own_names():
        return False
    files = (each for each in folder.rglob("*") if each.is_file() and each.name != LOCK)
    return bool(unfinished(folder)) or not any(files)


def is_dataset(folder: Place) -> bool:
    """Whether a folder is a dataset, or one that was not finished."""
    try:
        return (folder / MANIFEST).is_file() or interrupted(folder)
    except OSError:
        return False


def own_folders() -> list[str]:
    """Return the names of the folders that a dataset has in its own, but for unfinished work."""
    return [*table_names(), RECORDS, EARLIER]
