"""Files of a folder that are written anew together, and take the place of those before them.

They are written under temporary names and get theirs when all are written. The folder itself stays
what it is: a link, a mount point or where the user is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path

from smfparse.store import PARTIAL, Folder, check_folder, in_folder

_ALREADY = "the folder already contains tables; force=True replaces them"


def write_set(
    folder: Path,
    known: Collection[str],
    write: Callable[[Folder], Collection[str]],
    *,
    force: bool = False,
) -> None:
    """Have the files of a folder written.

    known  names that such files may have
    write  writes files under their names with PARTIAL behind them; returns the names

    Raises RequestError where `folder` exists, unless it is empty or has nothing but such files and
    `force` is given, and OutputError where it cannot be written.
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
    """Remove files that have temporary names."""
    for name in known:
        with suppress(OSError):
            folder.remove(f"{name}{PARTIAL}")


def _has_files(folder: Path, known: Collection[str]) -> bool | None:
    """Whether a folder holds such files and nothing else; None: nothing that stays."""
    parts = {f"{name}{PARTIAL}" for name in known}
    found = {each.name for each in folder.iterdir()} - parts
    return found <= set(known) if found else None
