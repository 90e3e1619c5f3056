"""Targets of results: files and folders that appear complete or not at all.

Files are written under temporary names, which end in `.partial`. Before files of a dataset are
replaced or read, a check ensures that they are regular files. Checksums are computed here too.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from smfparse.errors import InputError, OutputError, RequestError, unwritable
from smfparse.reading.places import Place

_NAME_SURROGATE = 0x20000000
"""Bit in the reparse tag of a Windows link or junction."""
_READ_BYTES = 1 << 20


def check_plain(folder: Place, names: Iterable[str], deep: Callable[[str], bool] = bool) -> None:
    """Raise OutputError if one of `names` in `folder`, or a file below it, is a link.

    Pipes and devices are not allowed either. Object storage contains no links, pipes or devices.

    deep  returns whether the contents of the folder with a name are checked; default: all folders
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


PARTIAL = ".partial"


def check_file(path: Path, force: bool) -> None:
    """Raise RequestError if a file cannot be written, or already exists.

    force  whether an existing file may be replaced; folders and devices are never replaced
    """
    if path.is_dir():
        raise RequestError(f"{path}: a folder with this name exists; give a file")
    if not path.exists():
        return
    if not path.is_file():
        raise RequestError(f"{path}: not a regular file; give a file")
    if not force:
        raise RequestError(f"{path}: already exists; force=True replaces it", "force")


def check_folder(
    folder: Place, is_ours: Callable[[Any], bool | None], already: str, force: bool
) -> None:
    """Raise RequestError if results cannot be written to a folder.

    is_ours  returns whether a folder contains only files that the caller may replace; None: it is
             empty, or contains only temporary files
    already  message for a folder with files that may be replaced, if `force` is False
    force    whether these files are replaced
    """
    if not folder.exists():
        return
    if not folder.is_dir():
        raise RequestError(f"{folder}: a file with this name exists; give a folder")
    ours = is_ours(folder)
    if ours is False:
        raise RequestError(f"{folder}: the folder has other files; give a new folder")
    if ours and not force:
        raise RequestError(f"{folder}: {already}", "append", "force")


@contextmanager
def in_folder(folder: Place) -> Iterator[None]:
    """Create a folder and its parents, if necessary; at the end, remove created empty folders.

    Raises OutputError, which names the folder, if the system refuses an operation.
    """
    new: list[Path] = []
    try:
        if isinstance(folder, Path):
            new = [each for each in (folder, *folder.parents) if not each.exists()]
            folder.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise unwritable(folder, error) from error
    finally:
        for each in new:
            with suppress(OSError):
                each.rmdir()


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Yield a temporary path. On success, its file replaces `target`; otherwise it is removed.

    If `target` is a link, the file to which it points is replaced. Raises OutputError if a file
    cannot be written or replaced.
    """
    place = Path(os.path.realpath(target))  # also works for a link to itself
    _remove_parts(place)
    part = place.with_name(f".{place.name}.{os.getpid()}{PARTIAL}")
    try:
        yield part
        part.replace(place)
    except OSError as error:
        raise unwritable(target, error) from error
    finally:
        _remove_parts(place)


@contextmanager
def new_file(target: Path, force: bool) -> Iterator[BinaryIO]:
    """Open a temporary file. On success, the file replaces `target`; otherwise it is removed.

    Raises the errors of `check_file` and `replacing`.
    """
    check_file(target, force)
    with replacing(target) as part, part.open("xb") as stream:
        yield stream


def _remove_parts(place: Path) -> None:
    """Remove temporary files for `place` that this process or killed processes created."""
    name = re.compile(rf"\.{re.escape(place.name)}\.(\d{{1,9}}){re.escape(PARTIAL)}(\.wal)?")
    with suppress(OSError):
        for each in list(place.parent.iterdir()):
            found = name.fullmatch(each.name)
            if found and not _is_at_work(int(found[1])):
                each.unlink(missing_ok=True)


def _is_at_work(process: int) -> bool:
    """Whether another process still runs; on Windows False, because Windows protects open files."""
    if process == os.getpid() or sys.platform == "win32":
        return False
    try:
        os.kill(process, 0)
    except OSError as error:
        return isinstance(error, PermissionError)
    return True
