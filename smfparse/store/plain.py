"""Checks that the files of a dataset are regular files; checksums of files."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath

from smfparse.errors import InputError, OutputError
from smfparse.places.kinds import Place

_NAME_SURROGATE = 0x20000000
"""Bit in the reparse tag of a Windows link or junction."""
_READ_BYTES = 1 << 20


def check_plain(folder: Place, names: Iterable[str], deep: Callable[[str], bool] = bool) -> None:
    """Raise OutputError if one of `names` in `folder`, or a file below it, is a link.

    Pipes and devices are not allowed either. Object storage contains no links, pipes or devices.

    deep  whether the contents of the folder with this name are checked; default: all
    """
    if not isinstance(folder, Path):
        return
    waiting = [(folder / each, deep(each)) for each in names]
    while waiting:
        place, below = waiting.pop()
        try:
            found = place.lstat()
        except FileNotFoundError:
            continue
        if not is_plain(found):
            raise OutputError(
                f"{place}: a link, pipe or device, which a dataset cannot contain; remove it, or "
                "name another folder"
            )
        if below and stat.S_ISDIR(found.st_mode):
            waiting += [(each, True) for each in place.iterdir()]


def plain_file(folder: Place, name: str) -> Place:
    """Return the place of a file in `folder`; `name` is the path of the file.

    Raises InputError if the file is missing, not regular, or a link is in its path.
    """
    place = folder
    try:
        if not isinstance(place, Path):
            place /= name
            _ = place.size
            return place
        for part in PurePosixPath(name).parts:
            place /= part
            found = place.lstat()
            if not is_plain(found):
                raise not_plain(place)
        if not stat.S_ISREG(found.st_mode):
            raise not_plain(place)
    except FileNotFoundError as error:
        raise InputError(f"{place}: a file of the dataset was not found; convert again") from error
    except OSError as error:
        raise InputError(f"{place}: {error.strerror or error}; convert again") from error
    return place


def is_plain(found: os.stat_result) -> bool:
    """Whether a stat result is of a regular file or folder, not of a link, pipe or device."""
    is_link = getattr(found, "st_reparse_tag", 0) & _NAME_SURROGATE
    return not is_link and (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode))


def check_way(folder: Path, names: Iterable[str]) -> None:
    """Raise OSError if a folder of the path `names` below `folder`, outermost first, is a link."""
    for each in names:
        folder /= each
        if not is_plain(folder.lstat()):
            raise not_plain(folder)


def not_plain(place: Path) -> OSError:
    """Return the error for a place that is not a regular file or folder."""
    return OSError(None, "a link, pipe or device, which a dataset cannot contain", str(place))


def checksum(path: Place) -> str:
    """Return the SHA-256 of a file, in hexadecimal. Raises InputError if it cannot be read."""
    found = hashlib.sha256()
    try:
        with path.open("rb", buffering=0) as file:
            while block := file.read(_READ_BYTES):
                found.update(block)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error
    return found.hexdigest()
