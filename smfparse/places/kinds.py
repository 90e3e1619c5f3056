"""Places: a path of this machine, or a URL, with the operations of both."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple, TypeAlias

from smfparse.places.url import Url

Place: TypeAlias = Path | Url
"""The place of a file or folder."""
SCHEMES = ("s3", "gs", "abfss")
"""Schemes of the URLs that can be read and written."""
_URL = re.compile(rf"({'|'.join(SCHEMES)})://", re.IGNORECASE)


class Stamp(NamedTuple):
    """The size of a file and the time of its last change, to recognise changes."""

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
