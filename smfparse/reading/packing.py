r"""The bytes of an input as they were before it was packed, in constant memory.

Packings are detected by the first bytes of a file, never by its name, and found inside each other.
What was unpacked before a cut or a corrupt place is given, to the byte, and the fault is known at
its end.

To add a packing, add a row to PACKINGS: its name, the bytes that it starts with, and what unpacks
it. That is, for lz4 (and `lz4` among the dependencies in pyproject.toml):

    def _lz4() -> Decompressor:
        from lz4.frame import LZ4FrameDecompressor

        return LZ4FrameDecompressor()

    _packing("lz4", rb"\x04\x22\x4d\x18", in_streams(_lz4)),
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, BinaryIO

from smfparse.errors import InputError
from smfparse.limits import LIMITS, Limits
from smfparse.places import BrokenError, Place, RangedFile, size_at
from smfparse.reading.streams import (
    HEAD,
    Feed,
    Layer,
    PackedFile,
    Packing,
    bz2,
    gzip,
    in_streams,
    unpacked_blocks,
    xz,
    zstd,
)
from smfparse.reading.zipped import only_member, unzipped

USUAL_GAIN = 10
"""About the bytes that a packed byte of SMF data becomes: docs/performance.md."""
_DEEPEST = 4
"""Packings inside each other that are undone."""


def _packing(name: str, magic: bytes, unpack: Callable[[Layer], Iterator[bytes]]) -> Packing:
    return Packing(name, re.compile(magic, re.DOTALL), unpack)


PACKINGS = (
    _packing("gzip", rb"\x1f\x8b\x08", in_streams(gzip)),
    _packing("zstd", rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18", in_streams(zstd)),
    _packing("xz", rb"\xfd7zXZ\x00", in_streams(xz)),
    _packing("bz2", rb"BZh[1-9](1AY&SY|\x17rE8P\x90)", in_streams(bz2)),
    _packing("zip", rb"PK(\x03\x04|\x05\x06)", unzipped),
)
"""Every packing that is undone."""


class Unpacked:
    """The bytes of an input.

    packing  how it was packed, outermost first: ("zip", "gzip"); () where it is not
    size     bytes of a file that is not packed, else None
    file     the file itself, unbuffered, where it is not packed: it may be sought
    mapped   whether `file` may be mapped: it is on this machine
    fault    once `readinto` has returned 0: why the bytes ended early, else None
    """

    def __init__(self, packing: tuple[str, ...], file: BinaryIO, feed: Feed | None) -> None:
        self.packing = packing
        self.size = None if packing else _size(file)
        self.file = None if packing else file
        self.mapped = not packing and not isinstance(file, RangedFile)
        self.fault: str | None = None
        self._raw = file
        self._feed = feed

    def readinto(self, buffer: memoryview) -> int:
        """Fill `buffer` as far as there is something at once; return how far, 0 at the end."""
        if self._feed is None:
            return self._own(buffer)
        data = self._feed.read(len(buffer))
        self.fault = self._feed.fault
        buffer[: len(data)] = data
        return len(data)

    def _own(self, buffer: memoryview) -> int:
        """Fill `buffer` with bytes of the file itself."""
        try:
            return self.file.readinto(buffer)  # type: ignore[union-attr, no-any-return]
        except BrokenError as error:
            self.fault = error.strerror
            return 0

    def reached(self, place: int) -> int:
        """Return how many bytes of the file, as it is, were read for those up to `place`."""
        return self._raw.tell() if self.packing else place

    def fill(self, buffer: memoryview) -> int:
        """Fill `buffer`, or as much of it as the rest of the bytes; return how much that is."""
        at = 0
        while at < len(buffer) and (got := self.readinto(buffer[at:])):
            at += got
        return at


@contextmanager
def unpacked(path: Place, name: str | None = None, limits: Limits = LIMITS) -> Iterator[Unpacked]:
    """Open a file to read the bytes that are packed in it, or its own.

    name  what the user calls it; None: by its path

    Raises InputError where it cannot be opened, and where a zip file does not hold just one file.
    """
    name = name or str(path)
    try:
        file: Any = path.open("rb", buffering=0)
    except OSError as error:
        raise InputError(f"{name}: {error.strerror or error}") from error
    with file:
        if isinstance(path, Path) and not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise InputError(f"{name}: a pipe or device, which can be read only once")
        try:
            packing, feed = _opened(file, name, limits)
            if feed is None:
                file.seek(0)
        except OSError as error:
            raise InputError(f"{name}: {error.strerror or error}") from error
        yield Unpacked(packing, file, feed)


def is_packed(path: Place) -> bool:
    """Whether a file is packed. Raises OSError where it cannot be read."""
    return _is_packed(path) if isinstance(path, Path) else _is_packed_there(path, size_at(path))


def _is_packed(path: Place) -> bool:
    with path.open("rb", buffering=0) as file:
        return packing_of(file.read(HEAD)) is not None


@lru_cache(1 << 14)
def _is_packed_there(path: Place, _size: int) -> bool:
    """Return what `_is_packed` does; to open a file elsewhere takes long."""
    return _is_packed(path)


def _size(file: BinaryIO) -> int:
    return file.size if isinstance(file, RangedFile) else os.fstat(file.fileno()).st_size


def packing_of(head: bytes) -> Packing | None:
    """Return the packing of data that start with `head`; None: they are not packed."""
    return next((each for each in PACKINGS if each.magic.match(head)), None)


def _opened(file: BinaryIO, name: str, limits: Limits) -> tuple[tuple[str, ...], Feed | None]:
    """Return how a file is packed, and a feed of what is packed in it."""
    found: tuple[str, ...] = ()
    feed: Feed | None = None
    head = file.read(HEAD)
    packed = PackedFile(file, limits.free_bytes)
    blocks: Callable[[], Iterator[bytes]] = packed.blocks
    while packing := packing_of(head):
        if len(found) == _DEEPEST:
            raise InputError(f"{name}: packed more than {_DEEPEST} times over; unpack it")
        member = None
        if packing.unpack is unzipped and not found and (member := only_member(file, name)):
            packed.start = member.header_offset
        found = (*found, packing.name)
        blocks = partial(unpacked_blocks, packed, blocks, packing, member)
        feed = Feed(blocks())
        head = feed.take(HEAD)
        feed.back(head)
    return found, feed
