"""A folder in object storage.

An object does not exist before it is closed, and is then complete. So files are written under their
final names, which contain the run: files of a killed run are in no manifest.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from smfparse.places.url import Url
from smfparse.store.folder import Folder, NewFile


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
