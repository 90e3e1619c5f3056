"""One run at a time writes to a folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from smfparse.errors import OutputError
from smfparse.places import Place
from smfparse.store.folder import Folder
from smfparse.store.plain import check_plain

LOCK = ".lock"
"""The file that is there while somebody writes, and after a run that was killed."""


@contextmanager
def only_writer(folder: Place) -> Iterator[None]:
    """Keep others from writing to a folder; the system ends that with the process, however it ends.

    Object storage has no such lock. Raises OutputError where another one writes there, or the lock
    would be elsewhere, by a link.
    """
    if not isinstance(folder, Path):
        yield
        return
    check_plain(folder, [LOCK])
    number = Folder(folder).open_lock(LOCK)
    with os.fdopen(number, "r+b") as file:
        if not is_locked(file):
            raise OutputError(
                f"{folder}: another smfparse is writing there; run again after it has ended"
            )
        try:
            yield
        finally:
            with suppress(OSError):  # Windows keeps what is open
                Folder(folder).remove(LOCK)


def is_locked(file: BinaryIO, *, without_locks: bool = True) -> bool:
    """Lock a file while it is open; return whether no other process has it, and it is still there.

    without_locks  what to return where the file system has no locks
    """
    try:
        _lock(file)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        return without_locks
    return os.fstat(file.fileno()).st_nlink > 0  # 0: its owner has just ended and removed it


def _lock(file: BinaryIO) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
