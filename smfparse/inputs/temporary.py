"""Temporary folders: each is removed after use, or by a later run if its process was killed.

Its process holds a lock in it, which the system ends with the process, however that ends.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
import weakref
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from smfparse.store import Folder, is_locked

_PREFIX = "smfparse-temporary-"
_OURS = re.compile(rf"{_PREFIX}[a-z0-9_]{{8}}")
_OWNER = ".smfparse-owner"
"""The file that is locked. What has none is not removed, unless it is empty."""


class TemporaryFolder:
    """A folder for temporary files, that goes with this object, or with a call of `remove`.

    Raises OSError where it cannot be made.
    """

    def __init__(self) -> None:
        _remove_left()
        self.path, owner = _made()
        self.remove = weakref.finalize(self, _remove, self.path, owner, os.getpid())

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.remove()


def _made() -> tuple[Path, BinaryIO]:
    """Make a folder, and lock it. One that another run takes for left meanwhile is given up."""
    while True:
        path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        with suppress(FileNotFoundError):
            owner = os.fdopen(Folder(path).open_lock(_OWNER), "r+b")
            if is_locked(owner):
                return path, owner
            owner.close()


def _remove(path: Path, owner: BinaryIO, process: int) -> None:
    """Remove a folder, but not in processes that were started since."""
    if os.getpid() == process:
        owner.close()  # Windows removes nothing that is open
        shutil.rmtree(path, ignore_errors=True)


def _remove_left() -> None:
    """Remove the folders of processes that were killed, as far as they are this user's."""
    with suppress(OSError):
        for each in list(os.scandir(tempfile.gettempdir())):
            if _OURS.fullmatch(each.name):
                with suppress(OSError):
                    _remove_if_left(Path(each.path))


def _remove_if_left(path: Path) -> None:
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or (hasattr(os, "getuid") and found.st_uid != os.getuid()):
        return
    if not (path / _OWNER).exists():
        path.rmdir()
        return
    with os.fdopen(Folder(path).open_lock(_OWNER), "r+b") as owner:
        if not is_locked(owner, without_locks=False):
            return
    shutil.rmtree(path, ignore_errors=True)
