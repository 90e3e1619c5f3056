"""Folders to write in, local or in object storage, without links in the paths of their files.

A remote file exists only after it is closed, and is then complete. So remote files are written
under their final names, which contain the run. Files of a killed run are in no manifest.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from smfparse.reading.places import Url
from smfparse.store.targets import PARTIAL, check_way, not_plain

_BY_HANDLE = {os.open, os.mkdir, os.unlink, os.rename, os.rmdir} <= os.supports_dir_fd
"""Whether a path can start at an open folder; if not (Windows), paths are checked for links."""
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_AT_ONCE = getattr(os, "O_NONBLOCK", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
_MOST_FLUSHES = 16
"""Maximum number of files that are flushed to disk in parallel."""
_BUFFER_BYTES = 1 << 17
"""Number of bytes in the buffer of a file at which the buffer is written."""


@dataclass(frozen=True)
class Folder:
    """A folder in which files are written; a name is a path below the folder, with `/`.

    The folder itself may be a link, because the user named it. If the system supports it, each
    folder in a name is opened from its parent, so that no folder can be replaced by a link between
    its check and its use. Every method raises OSError if the system refuses the operation, or
    a name leads through a link.
    """

    path: Path
    mark = ""
    """Last part of file names, before the extension."""

    def create(self, name: str) -> int:
        """Open a new file, and return its descriptor; create its folders if necessary."""
        self.make(PurePosixPath(name).parent.as_posix())
        return self._opened(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL)

    def new(self, name: str) -> NewFile:
        """Open a new file to write to. The closed file is in PARTIAL until `place` moves it.

        An engine may do the same work twice at the same time, with two equal files. So files have
        unique names until they are closed; then the later file replaces the earlier file.
        """
        waiting = f"{PARTIAL}/{name}"
        own = f"{waiting}.{os.urandom(4).hex()}"
        return NewFile(self.create(own), partial(self.move, own, waiting))

    def place(self, names: Iterable[str]) -> None:
        """Flush closed files to disk, move them to their final places, and flush the new names."""
        every = sorted(names)
        folders = {PurePosixPath(each).parent.as_posix() for each in every}
        for each in folders:
            self.make(each)
        _in_parallel(self._flush_file, (f"{PARTIAL}/{each}" for each in every))
        for each in every:
            self.move(f"{PARTIAL}/{each}", each)
        _in_parallel(self._flush_names, folders)

    def open_lock(self, name: str) -> int:
        """Open a file to lock it, and return its descriptor; create the file if necessary."""
        return self._opened(name, os.O_RDWR | os.O_CREAT)

    def _opened(self, name: str, how: int) -> int:
        with self._within(name) as (above, last):
            number = os.open(last, how | _NO_LINK | _BINARY | _AT_ONCE, 0o666, dir_fd=above)
        if stat.S_ISREG(os.fstat(number).st_mode):
            return number
        os.close(number)
        raise not_plain(self.path / name)

    def make(self, name: str) -> None:
        """Create a folder and its parents, if they do not exist."""
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
        """Move a file to another place, where it replaces an existing file."""
        with self._within(name) as (above, last), self._within(to) as (above_to, last_to):
            os.replace(last, last_to, src_dir_fd=above, dst_dir_fd=above_to)

    def remove(self, name: str) -> None:
        """Remove a file if it exists."""
        with suppress(FileNotFoundError), self._within(name) as (above, last):
            os.unlink(last, dir_fd=above)

    def remove_emptied(self, names: Collection[str]) -> None:
        """Remove the folders `names`, the folders above them, and the folders in PARTIAL, if empty.

        PARTIAL itself is removed only if it is in `names`.
        """
        below = (each for each in (self.path / PARTIAL).rglob("*") if each.is_dir())
        every = {PurePosixPath(each) for each in names}
        every |= {above for each in every for above in each.parents}
        every |= {PurePosixPath(each.relative_to(self.path).as_posix()) for each in below}
        kept = {PurePosixPath(), PurePosixPath(PARTIAL)} - {PurePosixPath(each) for each in names}
        for each in sorted(every - kept, key=lambda each: (-len(each.parts), each)):
            self._remove_empty(each.as_posix())

    def _remove_empty(self, name: str) -> None:
        with suppress(OSError), self._within(name) as (above, last):
            os.rmdir(last, dir_fd=above)

    def _flush_file(self, name: str) -> None:
        self._flush(name, os.O_RDWR)

    def _flush_names(self, name: str) -> None:
        """Wait until the names in a folder are on disk, if the system supports this."""
        if _BY_HANDLE:
            self._flush(name, _FOLDER)

    def _flush(self, name: str, how: int) -> None:
        with self._within(name) as (above, last):
            number = os.open(last, how | _NO_LINK, dir_fd=above)
        try:
            os.fsync(number)
        finally:
            os.close(number)

    @contextmanager
    def _within(self, name: str) -> Iterator[tuple[int | None, str]]:
        """Yield the descriptor of the folder of a file and its name; on Windows None and a path."""
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


def _in_parallel(keep: Callable[[str], None], names: Iterable[str]) -> None:
    """Call `keep`, which flushes a file to disk, for all names in parallel."""
    with ThreadPoolExecutor(_MOST_FLUSHES) as threads:
        for _ in threads.map(keep, names):
            pass


class NewFile:
    """A file that is written sequentially, for libraries that write to a file object.

    number  descriptor of the open file
    then    function called after the file is written and closed
    """

    def __init__(self, number: int, then: Callable[[], None] = lambda: None) -> None:
        self._number = number
        self._then = then
        self._sum = hashlib.sha256()
        self._held = bytearray()
        self._size = 0
        self.closed = False

    @property
    def sha256(self) -> str:
        """The SHA-256 of the flushed bytes, in hexadecimal; after `close`, of the whole file."""
        return self._sum.hexdigest()

    def write(self, data: bytes) -> int:
        """Add bytes to the buffer, which is written when it is full."""
        if self.closed:
            raise ValueError("the file is closed")
        self._held += data
        self._size += len(data)
        if len(self._held) >= _BUFFER_BYTES:
            self.flush()
        return len(data)

    def flush(self) -> None:
        """Write the buffered bytes."""
        with memoryview(self._held) as held:
            self._put(held)
            self._sum.update(held)
        self._held.clear()

    def _put(self, data: memoryview) -> None:
        done = 0
        while done < len(data):
            done += os.write(self._number, data[done:])

    def tell(self) -> int:
        """Return the number of bytes passed to `write`."""
        return self._size

    def close(self) -> None:
        """Write the buffered bytes, and close the file."""
        if not self.closed:
            self.flush()
            self.give_up()
            self._then()

    def give_up(self) -> None:
        """Close the file without the buffered bytes."""
        if not self.closed:
            self.closed = True
            os.close(self._number)


@dataclass(frozen=True)
class UrlFolder:
    """A remote folder, with the methods of `Folder`, which raise OSError with a reason in words.

    run  name of the run that writes the files
    """

    path: Url
    run: str

    @property
    def mark(self) -> str:
        """Last part of file names, before the extension."""
        return f"-{self.run}"

    def new(self, name: str) -> NewFile:
        """Open a new file to write to."""
        return NewObject(self.path / name)

    def place(self, names: Iterable[str]) -> None:
        """Do nothing: files are written in their final places."""

    def remove(self, name: str) -> None:
        """Remove a file if it exists."""
        (self.path / name).remove()

    def remove_emptied(self, names: Collection[str]) -> None:
        """Do nothing: in object storage, a folder is only a prefix of names."""


class NewObject(NewFile):
    """A remote file that is written sequentially."""

    def __init__(self, place: Url) -> None:
        super().__init__(-1)
        self._stream = place.open_to_write()

    def close(self) -> None:
        """Write the buffered bytes and close the file, which exists after this."""
        if not self.closed:
            self.flush()
            self._stream.close()
            self.closed = True

    def give_up(self) -> None:
        """Abandon the file, so that it never exists."""
        self.closed = True

    def _put(self, data: memoryview) -> None:
        self._stream.write(bytes(data))


AnyFolder: TypeAlias = Folder | UrlFolder
"""A local or remote folder in which files are written."""
