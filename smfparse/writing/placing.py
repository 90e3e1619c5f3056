"""How a dataset gets its files: all at once, when they are complete and the disk has them.

The manifest comes last and takes the place of the old one in one step. Then go the files that it
does not name. A run that is killed changes nothing, whenever that is; the same call does it again.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from smfparse.store import (
    MANIFEST,
    PARTIAL,
    VIEWS,
    Manifest,
    dataset_files,
    lacking,
    own_folders,
    strays,
    view_statements,
    write_manifest,
)

_MOST_KEPT = 16
"""Files that the disk is asked for at a time."""


def clear(folder: Path) -> None:
    """Remove what an unfinished run left, and folders that are empty then."""
    left = strays(folder)
    for each in left:
        each.unlink(missing_ok=True)
    for empty in own_folders(folder, left):
        with suppress(OSError):
            empty.rmdir()


def write_last(folder: Path, manifest: Manifest) -> None:
    """Write what has no rows: views and manifest."""
    folder.mkdir(exist_ok=True)  # no rows were written where all are there already
    found = {
        table: [lacking(manifest, table, each) for each in files]
        for table, files in manifest["files"].items()
    }
    text = view_statements(partitioned=manifest["partitioned"], lacking=found)
    (folder / VIEWS).write_text(text, encoding="utf-8")
    write_manifest(folder, manifest)


def put_in_place(folder: Path, manifest: Manifest) -> None:
    """Give the new files their places, the manifest last; remove those that it does not name."""
    new = [each for each in dataset_files(manifest) if (folder / PARTIAL / each).exists()]
    places = {(folder / each).parent for each in new}
    for place in places:
        place.mkdir(parents=True, exist_ok=True)
    _have_kept(folder / PARTIAL / each for each in (*new, VIEWS, MANIFEST))
    for name in (*new, VIEWS):
        (folder / PARTIAL / name).replace(folder / name)
    _have_kept(places)
    (folder / PARTIAL / MANIFEST).replace(folder / MANIFEST)
    _have_kept([folder])
    clear(folder)


def _have_kept(paths: Iterable[Path]) -> None:
    """Wait until the disk has files, and the names in folders: all at once is much faster."""
    with ThreadPoolExecutor(_MOST_KEPT) as threads:
        for _ in threads.map(_keep, paths):
            pass


def _keep(path: Path) -> None:
    is_folder = path.is_dir()
    if is_folder and sys.platform == "win32":
        return  # it has no way to
    number = os.open(path, os.O_RDONLY if is_folder else os.O_RDWR)
    try:
        os.fsync(number)
    finally:
        os.close(number)
