"""Places: a path of this machine, or a URL, with the operations of both."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple, TypeAlias

from smfparse.places.url import Url

Place: TypeAlias = Path | Url
"""Where a file or folder is."""
SCHEMES = ("s3", "gs", "abfss")
"""How the URLs of places start that are read and written."""
_URL = re.compile(rf"({'|'.join(SCHEMES)})://", re.IGNORECASE)


class Stamp(NamedTuple):
    """What changes when a file is written to: its size, and when that was last done."""

    size: int
    changed: int


def is_url(text: object) -> bool:
    """Whether a text names a place elsewhere."""
    return isinstance(text, str) and _URL.match(text) is not None


def place_of(text: str | Path | Url) -> Place:
    """Return the place that is named."""
    if isinstance(text, Path | Url):
        return text
    return Url.of(text) if is_url(text) else Path(text)


def size_at(place: Place) -> int:
    """Return the bytes of a file; those of a URL are asked for once. Raises OSError."""
    return place.size if isinstance(place, Url) else place.stat().st_size


def stamp_of(place: Place) -> Stamp:
    """Return the stamp of a file as it is now. Raises OSError."""
    found = place.stat()
    return Stamp(found.st_size, found.st_mtime_ns)
