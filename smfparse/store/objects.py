"""A folder in object storage, which is written once.

An object exists, complete, when it is closed. So files are written under their final names, which
contain the run: the files of a killed run belong to no manifest.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from smfparse.places.url import Url
from smfparse.store.folder import Folder, NewFile


@dataclass(frozen=True)
class UrlFolder:
    """A remote folder, with the methods of `Folder`. They raise OSError, with a reason in words.

    run  name of the run that writes
    """

    path: Url
    run: str

    @property
    def mark(self) -> str:
        """The part of file names before the extension."""
        return f"-{self.run}"

    def new(self, name: str) -> NewFile:
        """Open a new file, to write to it."""
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
        """Write the buffered bytes and close the file: from then on it exists."""
        if not self.closed:
            self.flush()
            self._stream.close()
            self.closed = True

    def give_up(self) -> None:
        """Abandon the file: it does not exist."""
        self.closed = True

    def _put(self, data: memoryview) -> None:
        self._stream.write(bytes(data))


AnyFolder: TypeAlias = Folder | UrlFolder
"""A folder that is written to."""
