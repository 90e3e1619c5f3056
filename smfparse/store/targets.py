"""Targets of results: files and folders that appear complete or not at all.

Files are written under temporary names, which end in `.partial`.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from smfparse.errors import RequestError, unwritable
from smfparse.places.kinds import Place

PARTIAL = ".partial"


def check_file(path: Path, force: bool) -> None:
    """Raise RequestError if a file cannot be written, or already exists.

    force  whether an existing file may be replaced; a folder or a device never may
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
        raise RequestError(f"{folder}: the folder has other files; give a new one")
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
