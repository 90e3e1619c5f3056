"""A folder that is written to: no path in it leads through a link."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from smfparse.store.plain import check_way, not_plain
from smfparse.store.targets import PARTIAL

_BY_HANDLE = {os.open, os.mkdir, os.unlink, os.rename, os.rmdir} <= os.supports_dir_fd
"""Whether a path can start at a folder that is open. On Windows it cannot: links are looked for."""
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_AT_ONCE = getattr(os, "O_NONBLOCK", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
_HELD = 1 << 17
"""Bytes that are held back to be written at once."""


@dataclass(frozen=True)
class Folder:
    """A folder that is written to, by paths below it with `/` that lead through no link.

    The folder itself may be a link, which is what the user named. Where the system can, each folder
    of a path is opened from the one above it, so that none can become a link meanwhile. Every
    method raises OSError where the system refuses what it does, or a link is in the way.
    """

    path: Path
    partial = PARTIAL
    """Where files are until they get their places."""

    def create(self, name: str) -> int:
        """Open a new file, and return its number; make the folders above it if need be."""
        self.make(PurePosixPath(name).parent.as_posix())
        return self._opened(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL)

    def new(self, name: str) -> NewFile:
        """Open a new file, as `create` does, to write to it."""
        return NewFile(self.create(name))

    def open_lock(self, name: str) -> int:
        """Open a file to lock it, and return its number; make it if need be."""
        return self._opened(name, os.O_RDWR | os.O_CREAT)

    def _opened(self, name: str, how: int) -> int:
        with self._within(name) as (above, last):
            number = os.open(last, how | _NO_LINK | _BINARY | _AT_ONCE, 0o666, dir_fd=above)
        if stat.S_ISREG(os.fstat(number).st_mode):
            return number
        os.close(number)
        raise not_plain(self.path / name)

    def make(self, name: str) -> None:
        """Make a folder, and those above it, where there is none."""
        try:
            self._make(name)
        except FileNotFoundError:
            if name == ".":
                raise
            self.make(PurePosixPath(name).parent.as_posix())
            self._make(name)

    def _make(self, name: str) -> None:
        with self._within(name) as (above, last), suppress(FileExistsError):
            os.mkdir(last, dir_fd=above)

    def move(self, name: str, to: str) -> None:
        """Give a file another place, in which it replaces the one that is there."""
        with self._within(name) as (above, last), self._within(to) as (above_to, last_to):
            os.replace(last, last_to, src_dir_fd=above, dst_dir_fd=above_to)

    def check(self) -> None:
        """Do nothing: the lock keeps others from writing there."""

    def publish(self, name: str, to: str) -> None:
        """Give the file its place that says what belongs to the folder, as `move` does."""
        self.move(name, to)

    def move_all(self, names: Iterable[tuple[str, str]]) -> None:
        """Give files other places, as `move` does."""
        for name, to in names:
            self.move(name, to)

    def remove(self, name: str) -> None:
        """Remove a file if it is there."""
        with suppress(FileNotFoundError), self._within(name) as (above, last):
            os.unlink(last, dir_fd=above)

    def remove_empty(self, name: str) -> None:
        """Remove a folder if it is there and empty."""
        with suppress(OSError), self._within(name) as (above, last):
            os.rmdir(last, dir_fd=above)

    def remove_emptied(self, names: Iterable[str], passing: str) -> None:
        """Remove the folders that are empty now: those named, those above what is named.

        passing  a folder of which all those below go, if they are empty, and which stays itself
        """
        below = (each for each in (self.path / passing).rglob("*") if each.is_dir())
        every = {PurePosixPath(each) for each in names}
        every |= {above for each in every for above in each.parents}
        every |= {PurePosixPath(each.relative_to(self.path).as_posix()) for each in below}
        kept = {PurePosixPath(), PurePosixPath(passing)}
        for each in sorted(every - kept, key=lambda each: (-len(each.parts), each)):
            self.remove_empty(each.as_posix())

    def keep(self, name: str) -> None:
        """Wait until the disk has a file."""
        self._keep(name, os.O_RDWR)

    def keep_names(self, name: str = ".") -> None:
        """Wait until the disk has the names that are in a folder, where the system has a way to."""
        if _BY_HANDLE:
            self._keep(name, _FOLDER)

    def _keep(self, name: str, how: int) -> None:
        with self._within(name) as (above, last):
            number = os.open(last, how | _NO_LINK, dir_fd=above)
        try:
            os.fsync(number)
        finally:
            os.close(number)

    @contextmanager
    def _within(self, name: str) -> Iterator[tuple[int | None, str]]:
        """Give the folder that a path ends in, open (None: it cannot be), and the rest of it."""
        *folders, last = PurePosixPath(name).parts or (".",)
        if not _BY_HANDLE:
            check_way(self.path, folders)
            yield None, str(self.path / name)
            return
        number = os.open(self.path, _FOLDER)
        try:
            for each in folders:
                inner = os.open(each, _FOLDER | _NO_LINK, dir_fd=number)
                os.close(number)
                number = inner
            yield number, last
        finally:
            os.close(number)


class NewFile:
    """A file that is written from its start on, for those that write to an object of Python.

    number  that of the file, which is open
    """

    def __init__(self, number: int) -> None:
        self._number = number
        self._sum = hashlib.sha256()
        self._held = bytearray()
        self._size = 0
        self.closed = False

    @property
    def sha256(self) -> str:
        """The SHA-256 of what was written, in hexadecimal; of the file once it is closed."""
        return self._sum.hexdigest()

    def write(self, data: bytes) -> int:
        """Take bytes; they are written when there are enough of them."""
        if self.closed:
            raise ValueError("the file is closed")
        self._held += data
        self._size += len(data)
        if len(self._held) >= _HELD:
            self.flush()
        return len(data)

    def flush(self) -> None:
        """Write what is held."""
        with memoryview(self._held) as held:
            self._put(held)
            self._sum.update(held)
        self._held.clear()

    def _put(self, data: memoryview) -> None:
        done = 0
        while done < len(data):
            done += os.write(self._number, data[done:])

    def tell(self) -> int:
        """Return how many bytes it took."""
        return self._size

    def close(self) -> None:
        """Write what is held, and close the file."""
        if not self.closed:
            self.flush()
            self.give_up()

    def give_up(self) -> None:
        """Close the file as it is."""
        if not self.closed:
            self.closed = True
            os.close(self._number)
