"""One run at a time writes to a folder."""

from __future__ import annotations

import itertools
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from smfparse.errors import OutputError
from smfparse.limits import LIMITS, Limits
from smfparse.places import Place, Url
from smfparse.progress import PROGRESS, WAITING
from smfparse.store.folder import Folder
from smfparse.store.objects import AnyFolder
from smfparse.store.plain import check_plain

LOCK = ".lock"
"""The file that is there while somebody writes, and after a run that was killed."""


_PAUSE = 0.1
"""Seconds between two tries to get a lock."""


@contextmanager
def only_writer(
    folder: Place, limits: Limits = LIMITS, *, waits: bool = False
) -> Iterator[AnyFolder]:
    """Give a folder to write to, and keep others from that.

    The system ends the lock with the process, however it ends; in object storage see `leases`.

    limits  say how long to wait, and how long a lock in object storage is kept after its run
    waits   whether to wait for another one that writes there

    Raises OutputError where that still writes there, or the lock would be elsewhere, by a link.
    """
    wait = limits.wait_seconds if waits else 0
    if isinstance(folder, Url):
        from smfparse.store.leases import leased  # slow to load, and for URLs alone

        with leased(folder, LOCK, limits, wait) as held:
            yield held
        return
    check_plain(folder, [LOCK])
    with _locked(folder, wait):
        try:
            yield Folder(folder.absolute())
        finally:
            with suppress(OSError):  # Windows keeps what is open
                Folder(folder).remove(LOCK)


def _locked(folder: Path, wait: float) -> BinaryIO:
    """Return the lock of a folder, open; raise OutputError where another one has it for long."""
    began = time.monotonic()
    for number in itertools.count():
        folder.mkdir(parents=True, exist_ok=True)  # the other one may have made and removed it
        file = os.fdopen(Folder(folder).open_lock(LOCK), "r+b")
        if is_locked(file):
            return file
        file.close()
        if time.monotonic() - began >= wait:
            break
        if not number:
            PROGRESS.say(f"{folder}: another smfparse is writing there; waiting for it")
        with PROGRESS.of(WAITING, 0):
            time.sleep(_PAUSE)
    raise OutputError(f"{folder}: another smfparse is writing there; run again after it has ended")


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
