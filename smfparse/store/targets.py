"""Where results go: a file or a folder that is free, or may be replaced, and is whole or not there.

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
    """Raise RequestError where a file cannot be written: its name is taken (unless `force`).

    `force` replaces a file, never a folder or a device.
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
    """Raise RequestError where a folder cannot be written, or replaced by `force`.

    is_ours  whether a folder has only what this writes and replaces; None: nothing that stays
    already  the message for a folder that is ours, without `force`
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
    """Make a folder, and those above it, if need be; of what was made goes what is empty then.

    Raises OutputError, which names the folder, where the system refuses anything meanwhile.
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
    """Give a temporary path for a file that takes the place of `target` when all is well, or goes.

    A link stays: the file that it leads to is replaced. Raises OutputError where that cannot be
    done.
    """
    place = Path(os.path.realpath(target))  # also of a link that leads to itself
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
    """Open a temporary file that takes the place of `target` when all is well, or goes.

    Raises what `check_file` and `replacing` do.
    """
    check_file(target, force)
    with replacing(target) as part, part.open("xb") as stream:
        yield stream


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
