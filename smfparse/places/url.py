"""A file or folder in object storage or HDFS, by the words of `Path` that the house uses."""

from __future__ import annotations

import fnmatch
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from smfparse.places.ranged import RangedFile
from smfparse.places.systems import in_words, missing, no_bucket, system

_MAGIC = re.compile(r"\*+|\?|\[!?[^\]]+\]")
"""What stands for others in a pattern."""
_FOLDERS = r"(?:(?!\.)[^/]+/)*"
_PARTS = re.compile(r"(\w+)://([^/]*)/*(.*)", re.DOTALL)


class UrlStat(NamedTuple):
    """What `Path.stat` tells, as far as it is asked for."""

    st_size: int
    st_mtime_ns: int
    st_mode: int


@dataclass(frozen=True)
class Url:
    """A place elsewhere. Every method that asks there raises OSError, with a reason in words.

    scheme     s3, gs, abfss, hdfs
    authority  the bucket, the container and account, the name node
    key        the path there, without a / at its ends; '' for all of it
    """

    scheme: str
    authority: str
    key: str = ""
    _known: dict[str, UrlStat] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, text: str) -> Url:
        """Return the URL that a text is."""
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
        """The last part of its path."""
        return PurePosixPath(self.key).name

    @property
    def suffix(self) -> str:
        """What its name ends in, from the last dot on."""
        return PurePosixPath(self.key).suffix

    @cached_property
    def parents(self) -> tuple[Url, ...]:
        """The folders that it is in, the inner ones first."""
        parts = self.key.split("/") if self.key else []
        above = ("/".join(parts[:count]) for count in reversed(range(len(parts))))
        return tuple(Url(self.scheme, self.authority, each) for each in above)

    def absolute(self) -> Url:
        """Return itself."""
        return self

    def relative_to(self, folder: Url) -> PurePosixPath:
        """Return the path from a folder that it is in."""
        return PurePosixPath(self.key).relative_to(PurePosixPath(folder.key))

    def is_relative_to(self, folder: Url) -> bool:
        """Whether it is a folder, or in it."""
        return folder in (self, *self.parents)

    @property
    def where(self) -> tuple[Any, str]:
        """The pyarrow file system, and the path in it."""
        found, start = system(self.scheme, self.authority)
        return found, f"{start}/{self.key}" if self.key else start or "/"

    def stat(self) -> UrlStat:
        """Return size, time and kind as they are now."""
        found = self._asked()
        if found is None:
            bucket = Url(self.scheme, self.authority)
            is_gone = self.scheme != "hdfs" and self.key and bucket._asked() is None
            raise no_bucket(self.scheme) if is_gone or not self.key else missing()
        return found

    def _asked(self) -> UrlStat | None:
        files, path = self.where
        with in_words(self.scheme):
            return _stat(files.get_file_info(path))

    @property
    def size(self) -> int:
        """Bytes of the file, as they were when it was first looked at."""
        if "" not in self._known:
            self._known[""] = self.stat()
        return self._known[""].st_size

    def exists(self) -> bool:
        """Whether anything is there."""
        return self._asked() is not None

    def is_file(self) -> bool:
        """Whether a file is there."""
        found = self._asked()
        return found is not None and stat.S_ISREG(found.st_mode)

    def is_dir(self) -> bool:
        """Whether a folder is there: something whose path goes on from here."""
        found = self._asked()
        return found is not None and stat.S_ISDIR(found.st_mode)

    def iterdir(self) -> Iterator[Url]:
        """Yield what is in the folder; nothing where there is none."""
        return iter(self._listed(deep=False))

    def rglob(self, pattern: str = "*") -> Iterator[Url]:
        """Yield what is below the folder, at any depth, whose name fits a pattern."""
        return (each for each in self._listed(deep=True) if fnmatch.fnmatchcase(each.name, pattern))

    def glob(self, pattern: str) -> Iterator[Url]:
        """Yield what fits a pattern from here on: *, ?, [...] in a name, and ** for folders."""
        parts = pattern.split("/")
        fixed = next((n for n, each in enumerate(parts) if _MAGIC.search(each)), len(parts))
        top = self / "/".join(parts[:fixed])
        fits = re.compile(_pattern(parts[fixed:]))
        for each in top._listed(deep=len(parts) - fixed > 1 or "**" in parts):
            if fits.fullmatch(str(each.relative_to(top))):
                yield each

    def _listed(self, deep: bool) -> list[Url]:
        found = []
        for inner, known in _below(*self.where, self.scheme, deep):
            each = self / inner
            each._known[""] = known
            found.append(each)
        return sorted(found)

    @property
    def was_folder(self) -> bool:
        """Whether it was a folder when it was listed."""
        return "" in self._known and stat.S_ISDIR(self._known[""].st_mode)

    def open(self, mode: str = "rb", buffering: int = 0) -> RangedFile:  # noqa: ARG002 - as of Path
        """Open the file to be read."""
        if not stat.S_ISREG(self.stat().st_mode):
            raise missing("a folder, not a file")
        files, path = self.where
        return RangedFile(partial(files.open_input_file, path), self.scheme)

    def read_bytes(self) -> bytes:
        """Return what is in the file."""
        with self.open() as file:
            return file.read()


def _below(files: Any, path: str, scheme: str, deep: bool) -> Iterator[tuple[str, UrlStat]]:
    """Yield what is below a folder, by its path from there."""
    from pyarrow.fs import FileSelector

    with in_words(scheme):
        found = files.get_file_info(FileSelector(path, allow_not_found=True, recursive=deep))
    for info in found:
        inner, known = info.path.removeprefix(path).strip("/"), _stat(info)
        if inner and known is not None:
            yield inner, known


def _stat(info: Any) -> UrlStat | None:
    """Return what a file system tells of a place; None: nothing is there."""
    from pyarrow.fs import FileType

    if info.type == FileType.NotFound:
        return None
    mode = stat.S_IFREG if info.type == FileType.File else stat.S_IFDIR
    return UrlStat(info.size or 0, info.mtime_ns or 0, mode)


def _pattern(parts: list[str]) -> str:
    """Return the parts of a pattern as a regular expression, as `glob` takes them."""
    *folders, last = parts
    found = (_FOLDERS if each == "**" else f"{_regex(each)}/" for each in folders)
    return "".join(found) + (_FOLDERS + _regex("*") if last == "**" else _regex(last))


def _regex(part: str) -> str:
    hidden = "" if part.startswith(".") else r"(?!\.)"
    return hidden + _MAGIC.sub(_magic, re.sub(r"[.+^${}()|\\]", r"\\\g<0>", part))


def _magic(found: re.Match[str]) -> str:
    """Return what *, ? or [...] stand for."""
    if found[0].startswith("["):
        return f"[^{found[0][2:]}" if found[0].startswith("[!") else found[0]
    return "[^/]" if found[0] == "?" else "[^/]*"
