"""A folder in object storage or HDFS that is written to.

An object is there, whole, once it is closed, and takes the place of another in one step; nothing is
renamed there: to move one is to copy it, where it is, and to remove the old one.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from smfparse.places import Place, Url, in_words
from smfparse.store.folder import Folder, NewFile

_AT_ONCE = 16
"""Files that are moved at a time."""


@dataclass(frozen=True)
class UrlFolder:
    """A folder elsewhere, with the methods of `Folder`. They raise OSError, its reason in words."""

    path: Url

    def new(self, name: str) -> NewFile:
        """Open a new file, to write to it."""
        place = self.path / name
        files, path = place.where
        with in_words(place.scheme):
            return NewObject(files.open_output_stream(path), place.scheme)

    def make(self, name: str) -> None:
        """Do nothing: there, a folder is what is in front of the names of files."""

    def move(self, name: str, to: str) -> None:
        """Give a file another place, in which it replaces the one that is there."""
        place, target = self.path / name, self.path / to
        files, path = place.where
        if place.scheme == "hdfs":
            self.remove(to)
        with in_words(place.scheme):
            files.move(path, target.where[1])

    def move_all(self, names: Iterable[tuple[str, str]]) -> None:
        """Give files other places, several at a time."""
        from concurrent.futures import ThreadPoolExecutor  # slow to load

        with ThreadPoolExecutor(_AT_ONCE) as threads:
            for _ in threads.map(lambda each: self.move(*each), names):
                pass

    def remove(self, name: str) -> None:
        """Remove a file if it is there."""
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


def folder_at(place: Place) -> AnyFolder:
    """Return the folder at a place, to be written to."""
    return Folder(place.absolute()) if isinstance(place, Path) else UrlFolder(place)
