"""Temporary folders: each is removed after use, or by a later run if its process was killed.

Inputs that can be read only once (standard input, a pipe, a device) are copied to such a folder.
The process keeps a file in the folder locked; the system releases the lock when the process ends.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import sys
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any, BinaryIO

from smfparse.errors import InputError, OutputError
from smfparse.inputs.named import NOWHERE
from smfparse.reading.reader import Input
from smfparse.store.folder import Folder

_PREFIX = "smfparse-temporary-"
_FOLDER_NAME = re.compile(rf"{_PREFIX}[a-z0-9_]{{8}}")
_OWNER = ".smfparse-owner"
"""The locked file. A folder without this file is removed only if the folder is empty."""


class TemporaryFolder:
    """A folder for temporary files; the folder is removed with this object, or by `remove`.

    Raises OSError if the folder cannot be created.
    """

    def __init__(self) -> None:
        _remove_abandoned()
        self.path, owner = _made()
        self.remove = weakref.finalize(self, _remove, self.path, owner, os.getpid())

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.remove()


def _made() -> tuple[Path, BinaryIO]:
    """Make and lock a folder; if another run removes it before the lock, make a new folder."""
    while True:
        path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        with suppress(FileNotFoundError):
            owner = os.fdopen(Folder(path).open_lock(_OWNER), "r+b")
            if _is_locked(owner):
                return path, owner
            owner.close()


def _remove(path: Path, owner: BinaryIO, process: int) -> None:
    """Remove a folder, but not in processes that were forked after the folder was made."""
    if os.getpid() == process:
        owner.close()  # Windows removes nothing that is open
        shutil.rmtree(path, ignore_errors=True)


def _remove_abandoned() -> None:
    """Remove the folders of killed processes of the same user."""
    with suppress(OSError):
        for each in list(os.scandir(tempfile.gettempdir())):
            if _FOLDER_NAME.fullmatch(each.name):
                with suppress(OSError):
                    _remove_if_abandoned(Path(each.path))


def _remove_if_abandoned(path: Path) -> None:
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or (hasattr(os, "getuid") and found.st_uid != os.getuid()):
        return
    if not (path / _OWNER).exists():
        path.rmdir()
        return
    with os.fdopen(Folder(path).open_lock(_OWNER), "r+b") as owner:
        if not _is_locked(owner, without_locks=False):
            return
    shutil.rmtree(path, ignore_errors=True)


def _is_locked(file: BinaryIO, *, without_locks: bool = True) -> bool:
    """Lock an open file; return whether the lock succeeded and the file still exists.

    without_locks  result if the file system has no locks
    """
    try:
        _lock(file)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        return without_locks
    return os.fstat(file.fileno()).st_nlink > 0  # 0: another process has just removed the file


def _lock(file: BinaryIO) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


_COPY = "copy"
_COPIED = 1 << 20
"""Number of bytes that are read and written in one step."""
_KEPT_FREE = 10**9
"""Free space in the temporary folder that copies do not use, in bytes."""


def copied(stream: Input, max_copy: int | None) -> Input:
    """Copy an input that can be read only once to a temporary file.

    max_copy  maximum number of bytes; None: result of `_room`

    Raises InputError if the input is longer.
    """
    try:
        folder = TemporaryFolder()
        target = os.fdopen(Folder(folder.path).create(_COPY), "wb", buffering=0)
    except OSError as error:
        raise _no_room(stream, error) from error
    try:
        with target:
            _copy(stream, target, _room() if max_copy is None else max_copy)
    except BaseException:
        folder.remove()
        raise
    return Input(folder.path / _COPY, stream.name, copy=folder)


def _copy(stream: Input, target: Any, most: int) -> None:
    """Copy an input that can be read only once. Raises InputError for more than `most` bytes."""
    left = most
    for block in _blocks(stream):
        left -= len(block)
        if left < 0:
            raise InputError(
                f"{stream.name}: longer than the {most:,} bytes that are copied to "
                f"{tempfile.gettempdir()}; allow more by max_copy=, or pass a file",
                "max_copy",
            )
        try:
            target.write(block)
        except OSError as error:
            raise _no_room(stream, error) from error


def _room() -> int:
    """Return the default of `max_copy`: free space minus 1 GB, or half if under 2 GB is free."""
    free = shutil.disk_usage(tempfile.gettempdir()).free
    return max(free - _KEPT_FREE, free // 2)


def _blocks(stream: Input) -> Iterator[bytes]:
    try:
        with _opened(stream) as source:
            while block := source.read(_COPIED):
                yield block
    except OSError as error:
        raise InputError(f"{stream.name}: {error.strerror or error}") from error


def _opened(stream: Input) -> Any:
    """Return a context with a binary file; standard input stays open at the end of the context."""
    if stream.path is not NOWHERE:
        return stream.path.open("rb", buffering=0)
    if sys.stdin is None or sys.stdin.isatty():
        raise InputError(f"{stream.name}: standard input is not a file or pipe")
    return nullcontext(sys.stdin.buffer)


def _no_room(stream: Input, error: OSError) -> OutputError:
    return OutputError(
        f"{tempfile.gettempdir()}: {error.strerror or error}; {stream.name} is copied "
        "there first; set TMPDIR to another folder, or pass a file instead of a pipe"
    )
