"""Places: local paths, and URLs of object storage with the required methods of `Path`."""

from __future__ import annotations

import fnmatch
import io
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, TypeAlias

from smfparse.reading.objects import BrokenError, in_words, missing, store_of

SCHEMES = ("s3", "gs", "abfss")
"""Schemes of the URLs that can be read and written."""
_URL = re.compile(rf"({'|'.join(SCHEMES)})://", re.IGNORECASE)
_MAGIC = re.compile(r"\*+|\?|\[!?[^\]]+\]")
"""Characters with a special meaning in a pattern."""
_FOLDERS = r"(?:(?!\.)[^/]+/)*"
_PARTS = re.compile(r"(\w+)://([^/]*)/*(.*)", re.DOTALL)
_FIRST, _MORE, _MOST = 1 << 16, 4, 8 << 20
"""Bytes in the first requested range, factor for each further range, and maximum bytes."""


class UrlStat(NamedTuple):
    """The values of `Path.stat` that are used for files."""

    st_size: int
    st_mtime_ns: int
    st_mode: int


_FOLDER = UrlStat(0, 0, stat.S_IFDIR)


@dataclass(frozen=True)
class Url:
    """A remote place. Every method that sends a request raises OSError with a readable reason.

    scheme     s3, gs, abfss
    authority  the bucket, or the container and account
    key        path in the bucket or container, without / at both ends; '': the bucket or container
    """

    scheme: str
    authority: str
    key: str = ""
    _known: dict[str, UrlStat] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, text: str) -> Url:
        """Parse the text of a URL."""
        found = _PARTS.fullmatch(text)
        assert found is not None
        return cls(found[1].lower(), found[2], found[3].rstrip("/"))

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}" + (f"/{self.key}" if self.key else "")

    def __lt__(self, other: Url) -> bool:
        return self._order < other._order

    @property
    def _order(self) -> tuple[str, str, list[str]]:
        return self.scheme, self.authority, self.key.split("/")

    def __truediv__(self, name: str) -> Url:
        return Url(self.scheme, self.authority, "/".join(filter(None, (self.key, name))))

    def __getstate__(self) -> dict[str, Any]:
        return {"scheme": self.scheme, "authority": self.authority, "key": self.key, "_known": {}}

    @property
    def name(self) -> str:
        """The last part of the path."""
        return PurePosixPath(self.key).name

    @property
    def suffix(self) -> str:
        """The extension of the name, with the dot."""
        return PurePosixPath(self.key).suffix

    @cached_property
    def parents(self) -> tuple[Url, ...]:
        """The folders that contain the place, the innermost folder first."""
        parts = self.key.split("/") if self.key else []
        above = ("/".join(parts[:count]) for count in reversed(range(len(parts))))
        return tuple(Url(self.scheme, self.authority, each) for each in above)

    def absolute(self) -> Url:
        """Return the same place: all URLs are absolute."""
        return self

    def relative_to(self, folder: Url) -> PurePosixPath:
        """Return the path from a folder that contains the place."""
        return PurePosixPath(self.key).relative_to(PurePosixPath(folder.key))

    def is_relative_to(self, folder: Url) -> bool:
        """Whether the place is a folder, or a place in the folder."""
        return folder in (self, *self.parents)

    def stat(self) -> UrlStat:
        """Return size, time of change and kind. Raises FileNotFoundError if nothing exists."""
        found = self._asked()
        if found is None:
            raise missing()
        return found

    def _asked(self) -> UrlStat | None:
        """Return the stat of the object or folder; None: neither exists in the bucket."""
        with suppress(FileNotFoundError), self._store() as (store, obstore):
            if self.key:
                return _stat(obstore.head(store, self.key))
        with self._store() as (store, obstore):
            found = next(iter(obstore.list(store, self.key or None, chunk_size=1)), None)
        return _FOLDER if found or not self.key else None

    @property
    def size(self) -> int:
        """Size of the file in bytes when it was first requested."""
        if "" not in self._known:
            self._known[""] = self.stat()
        return self._known[""].st_size

    def exists(self) -> bool:
        """Whether the place is an existing object or folder."""
        return self._asked() is not None

    def is_file(self) -> bool:
        """Whether the place is an existing file."""
        found = self._asked()
        return found is not None and stat.S_ISREG(found.st_mode)

    def is_dir(self) -> bool:
        """Whether the place is an existing folder: a prefix of longer paths."""
        found = self._asked()
        return found is not None and stat.S_ISDIR(found.st_mode)

    def iterdir(self) -> Iterator[Url]:
        """Yield the contents of the folder; nothing: the folder is empty or does not exist."""
        return iter(self._listed(deep=False))

    def rglob(self, pattern: str = "*") -> Iterator[Url]:
        """Yield the places below the folder, at any depth, whose names match a pattern."""
        return (each for each in self._listed(deep=True) if fnmatch.fnmatchcase(each.name, pattern))

    def glob(self, pattern: str) -> Iterator[Url]:
        """Yield the places in the folder that match: *, ?, [...] in a name, ** for any folders."""
        parts = pattern.split("/")
        fixed = next((n for n, each in enumerate(parts) if _MAGIC.search(each)), len(parts))
        top = self / "/".join(parts[:fixed])
        fits = re.compile(_pattern(parts[fixed:]))
        for each in top._listed(deep=len(parts) - fixed > 1 or "**" in parts):
            if fits.fullmatch(str(each.relative_to(top))):
                yield each

    def _listed(self, deep: bool) -> list[Url]:
        with self._store() as (store, obstore):
            if deep:
                objects = [each for some in obstore.list(store, self.key or None) for each in some]
                below = (PurePosixPath(each["path"]).parents for each in objects)
                folders = {each.as_posix() for some in below for each in some}
            else:
                found = obstore.list_with_delimiter(store, self.key or None)
                objects, folders = found["objects"], set(found["common_prefixes"])
        known = dict.fromkeys(folders, _FOLDER) | {each["path"]: _stat(each) for each in objects}
        start = f"{self.key}/" if self.key else ""
        return sorted(
            Url(self.scheme, self.authority, path, {"": each})
            for path, each in known.items()
            if path.startswith(start) and path not in (self.key, ".")
        )

    @property
    def was_folder(self) -> bool:
        """Whether the place was a folder when it was listed or first requested."""
        return "" in self._known and stat.S_ISDIR(self._known[""].st_mode)

    def open(self, mode: str = "rb", buffering: int = 0) -> ObjectFile:  # noqa: ARG002 - as of Path
        """Open the file for reading."""
        size = self.size
        if self.was_folder:
            raise missing("a folder, not a file")
        return ObjectFile(self, size)

    def read_bytes(self) -> bytes:
        """Return the contents of the file."""
        with self._store() as (store, obstore):
            return bytes(obstore.get(store, self.key).bytes())

    def range(self, start: int, end: int) -> bytes:
        """Return bytes `start` to `end` of the file. Raises BrokenError if a byte is missing."""
        try:
            with self._store() as (store, obstore):
                found = bytes(obstore.get_range(store, self.key, start=start, end=end))
        except OSError as error:
            raise BrokenError(None, f"{error.strerror}, at byte {start:,}") from error
        if len(found) != end - start:
            reason = f"the storage returned {len(found):,} bytes of {end - start:,}"
            raise BrokenError(None, f"{reason}, at byte {start:,}")
        return found

    def open_to_write(self) -> ObjectWriter:
        """Open the file for writing. The file exists, complete, after it is closed."""
        with self._store() as (store, obstore):
            return ObjectWriter(obstore.open_writer(store, self.key), self.scheme)

    def put_new(self, data: bytes) -> bool:
        """Write the file if it does not exist; return whether its content is `data`.

        If the response to a request is lost, the request is repeated, and finds the written file.
        """
        try:
            with self._store() as (store, obstore):
                obstore.put(store, self.key, data, mode="create", use_multipart=False)
        except FileExistsError:
            return self.read_bytes() == data
        return True

    def remove(self) -> None:
        """Remove the file if it exists."""
        with suppress(FileNotFoundError), self._store() as (store, obstore):
            obstore.delete(store, self.key)

    @contextmanager
    def _store(self) -> Iterator[tuple[Any, Any]]:
        """Yield the store of the file, and obstore; convert errors as `in_words`."""
        import obstore

        with in_words(self.scheme):
            yield store_of(self.scheme, self.authority), obstore


class ObjectWriter:
    """Writes an object with a writer of obstore."""

    def __init__(self, stream: Any, scheme: str) -> None:
        self._stream, self._scheme = stream, scheme

    def write(self, data: bytes) -> None:
        """Write bytes. Like `close`, raises OSError with a readable reason."""
        with in_words(self._scheme):
            self._stream.write(data)

    def close(self) -> None:
        """Complete the object."""
        with in_words(self._scheme):
            self._stream.close()


class ObjectFile(io.RawIOBase):
    """Reads an object in ranges, which become longer in sequential reads; keeps the last range."""

    def __init__(self, place: Url, size: int) -> None:
        super().__init__()
        self._place, self.size = place, size
        self._at = 0
        self._held, self._held_at, self._length = memoryview(b""), 0, _FIRST

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self.size}[whence]
        self._at = max(start + offset, 0)
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Read bytes of one range into a buffer; return their number. Raises BrokenError."""
        wanted = min(len(buffer), self.size - self._at)
        if wanted <= 0:
            return 0
        if not self._held_at <= self._at < self._held_at + len(self._held):
            self._fetch(wanted)
        found = self._held[self._at - self._held_at :][:wanted]
        memoryview(buffer).cast("B")[: len(found)] = found
        self._at += len(found)
        return len(found)

    def read(self, size: int | None = -1, /) -> bytes:
        """Return the requested number of bytes; fewer at the end, or before an error."""
        left = self.size - self._at
        found = bytearray(max(left if size is None or size < 0 else min(size, left), 0))
        done = 0
        with memoryview(found) as room:
            while done < len(found):
                try:
                    done += self.readinto(room[done:])
                except BrokenError:
                    if not done:
                        raise
                    break  # the bytes before the error are returned
        return bytes(found[:done])

    def _fetch(self, wanted: int) -> None:
        goes_on = self._at == self._held_at + len(self._held)
        self._length = min(_MORE * self._length, _MOST) if goes_on and self._at else _FIRST
        end = min(self._at + min(max(self._length, wanted), _MOST), self.size)
        self._held, self._held_at = memoryview(self._place.range(self._at, end)), self._at


Place: TypeAlias = Path | Url
"""The place of a file or folder."""


class Stamp(NamedTuple):
    """Size in bytes and time of the last change in ns, by which changes of a file are detected."""

    size: int
    changed: int


def is_url(text: object) -> bool:
    """Whether a text is a URL with one of the schemes."""
    return isinstance(text, str) and _URL.match(text) is not None


def place_of(text: str | Path | Url) -> Place:
    """Return the place of a path or URL."""
    if isinstance(text, Path | Url):
        return text
    return Url.of(text) if is_url(text) else Path(text)


def size_at(place: Place) -> int:
    """Return the size of a file in bytes; the size at a URL is requested once. Raises OSError."""
    return place.size if isinstance(place, Url) else place.stat().st_size


def stamp_of(place: Place) -> Stamp:
    """Return the current stamp of a file. Raises OSError."""
    found = place.stat()
    return Stamp(found.st_size, found.st_mtime_ns)


def _stat(found: Any) -> UrlStat:
    changed = int(found["last_modified"].timestamp() * 10**9)
    return UrlStat(found["size"], changed, stat.S_IFREG)


def _pattern(parts: list[str]) -> str:
    """Return the parts of a `glob` pattern as a regular expression."""
    *folders, last = parts
    found = (_FOLDERS if each == "**" else f"{_regex(each)}/" for each in folders)
    return "".join(found) + (_FOLDERS + _regex("*") if last == "**" else _regex(last))


def _regex(part: str) -> str:
    hidden = "" if part.startswith(".") else r"(?!\.)"
    return hidden + _MAGIC.sub(_magic, re.sub(r"[.+^${}()|\\]", r"\\\g<0>", part))


def _magic(found: re.Match[str]) -> str:
    if found[0].startswith("["):
        return f"[^{found[0][2:]}" if found[0].startswith("[!") else found[0]
    return "[^/]" if found[0] == "?" else "[^/]*"
