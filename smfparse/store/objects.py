"""A folder in object storage or HDFS that is written to.

An object is there, whole, once it is closed, and takes the place of another in one step; nothing is
renamed there: to move one is to copy it, where it is, and to remove the old one.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from smfparse.places import Url, in_words
from smfparse.store.folder import Folder, NewFile
from smfparse.store.targets import PARTIAL

_AT_ONCE = 16
"""Files that are moved at a time."""


class Guard(Protocol):
    """Knows whether a run may write. All methods raise OutputError where another one does."""

    def confirm(self) -> None:
        """Look whether the run may still write, if that is not known from a moment ago."""

    def check(self) -> None:
        """Look whether the run may still write, and nobody else did."""

    def publish(self, data: bytes) -> bool:
        """Put the manifest, if the one that is there is still the same; False: it cannot."""


@dataclass(frozen=True)
class UrlFolder:
    """A folder elsewhere, with the methods of `Folder`. They raise OSError, its reason in words.

    run    names the run that writes: what it has not finished is in a folder of its own, so that
           nobody who took over from it meets it
    guard  of that run, in its process; workers do what they are told
    """

    path: Url
    run: str = ""
    guard: Guard | None = field(default=None, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path, "run": self.run, "guard": None}

    @property
    def partial(self) -> str:
        """Where files are until they get their places."""
        return f"{PARTIAL}/{self.run}" if self.run else PARTIAL

    def check(self) -> None:
        """Raise OutputError if another run writes there, or wrote there since this one began."""
        if self.guard is not None:
            self.guard.check()

    def publish(self, name: str, to: str) -> None:
        """Give the file its place that says what belongs to the folder, if it is the next one."""
        if self.guard is not None and self.guard.publish((self.path / name).read_bytes()):
            self.remove(name)
        else:
            self.move(name, to)

    def _confirm(self) -> None:
        if self.guard is not None:
            self.guard.confirm()

    def new(self, name: str) -> NewFile:
        """Open a new file, to write to it."""
        self._confirm()
        place = self.path / name
        files, path = place.where
        with in_words(place.scheme):
            return NewObject(files.open_output_stream(path), place.scheme)

    def make(self, name: str) -> None:
        """Do nothing: there, a folder is what is in front of the names of files."""

    def move(self, name: str, to: str) -> None:
        """Give a file another place, in which it replaces the one that is there."""
        self._confirm()
        place, target = self.path / name, self.path / to
        files, path = place.where
        if place.scheme == "hdfs":
            self.remove(to)
        with in_words(place.scheme):
            if place.scheme == "abfss":  # most accounts cannot rename
                files.copy_file(path, target.where[1])
                files.delete_file(path)
            else:
                files.move(path, target.where[1])

    def move_all(self, names: Iterable[tuple[str, str]]) -> None:
        """Give files other places, several at a time."""
        from concurrent.futures import ThreadPoolExecutor  # slow to load

        with ThreadPoolExecutor(_AT_ONCE) as threads:
            for _ in threads.map(lambda each: self.move(*each), names):
                pass

    def remove(self, name: str) -> None:
        """Remove a file if it is there."""
        self._confirm()
        place = self.path / name
        files, path = place.where
        with suppress(FileNotFoundError), in_words(place.scheme):
            files.delete_file(path)

    def remove_empty(self, name: str) -> None:
        """Remove what stands for a folder, if no file is in it."""
        place = self.path / name
        with suppress(OSError):
            if all(each.was_folder for each in place.rglob()):
                files, path = place.where
                files.delete_dir(path)

    def remove_emptied(self, names: Iterable[str], passing: str) -> None:
        """Do nothing, as `make`."""

    def keep(self, name: str) -> None:
        """Do nothing: what is closed there is kept."""

    def keep_names(self, name: str = ".") -> None:
        """Do nothing, as `keep`."""


class NewObject(NewFile):
    """A file elsewhere that is written from its start on.

    stream  of pyarrow's, which is open
    """

    def __init__(self, stream: Any, scheme: str) -> None:
        super().__init__(-1)
        self._stream = stream
        self._scheme = scheme

    def close(self) -> None:
        """Write what is held, and close the file: it is there then."""
        if not self.closed:
            self.flush()
            with in_words(self._scheme):
                self._stream.close()
            self.closed = True

    def give_up(self) -> None:
        """Close the file as it is."""
        if not self.closed:
            self.closed = True
            with suppress(OSError):
                self._stream.close()

    def _put(self, data: memoryview) -> None:
        with in_words(self._scheme):
            self._stream.write(data)


AnyFolder: TypeAlias = Folder | UrlFolder
"""A folder that is written to."""
