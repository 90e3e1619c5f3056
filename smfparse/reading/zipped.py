"""The one file in a zip file, read as a stream: also where the directory at its end is cut off."""

from __future__ import annotations

import os
import re
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from smfparse.errors import InputError
from smfparse.reading.streams import (
    Decompressor,
    FaultError,
    Feed,
    Layer,
    bz2,
    deflate,
    lzma_alone,
    xz,
    zstd,
)

if TYPE_CHECKING:
    from zipfile import ZipInfo

_SHOWN_MEMBERS = 5
"""Files of a zip file that are named."""
_DIRECTORY = 1 << 20
"""Bytes of the directory of a zip file that is read."""
_DIRECTORY_END = 22 + 0xFFFF
"""Bytes at the end of a zip file in which the end of its directory starts."""
_DESCRIPTOR = 24
"""Bytes behind a file in a zip file, at most, with its checksum and sizes."""
_LOCAL = struct.Struct("<4s2xHH4xIIIHH")
"""Before a file in a zip file: signature, flags, method, checksum, sizes packed and not, then of
name and extra field (APPNOTE.TXT 4.3.7)."""
_ENCRYPTED, _END_MARKED, _DESCRIBED = 1, 2, 8
"""Flags of a file in a zip file."""
_STORED, _LZMA = 0, 14
_METHODS: dict[int, Callable[[], Decompressor]] = {
    8: deflate,
    12: bz2,
    _LZMA: lzma_alone,
    93: zstd,
    95: xz,
}
_MORE = re.compile(rb"PK(\x03\x04|\x05\x06)")
"""Starts of a file, and of the end of the directory, in a zip file."""


def unzipped(layer: Layer) -> Iterator[bytes]:
    """Yield the file in a zip file. Raises FaultError where it ends early."""
    feed, member = layer.feed, layer.member
    entry = _entry(feed, member)
    crc = 0
    for block in layer.stream(_packed_by(entry, feed)):
        crc = zlib.crc32(block, crc)
        yield block
    behind = b"" if member else feed.take(_DESCRIPTOR + 4)
    if entry.crc is None:
        behind = behind.removeprefix(b"PK\7\10")
        if len(behind) < 4:
            raise feed.end("zip")
        entry.crc, behind = int.from_bytes(behind[:4], "little"), behind[12:]
    if crc != entry.crc:
        raise FaultError("the zip data are corrupt: the checksum is wrong")
    if member is None:
        _check_behind(feed, behind)


def _check_behind(feed: Feed, behind: bytes) -> None:
    """Check that behind the first file in a zip file the directory starts."""
    while feed.read():  # what it is packed in may turn out corrupt at its end
        pass
    if _MORE.search(behind):
        raise FaultError("the zip file contains more than one file; the others are not used")
    if feed.fault or b"PK\1\2" not in behind:
        raise feed.end("zip")


@dataclass
class _Entry:
    """What a zip file says of a file in it; `crc` is None where it stands behind the data."""

    flags: int
    method: int
    crc: int | None
    packed_size: int
    size: int


def _entry(feed: Feed, member: ZipInfo | None) -> _Entry:
    """Read to where the data of the first file in a zip file start."""
    while True:
        head = feed.take(_LOCAL.size)
        if len(head) < _LOCAL.size:
            raise feed.end("zip")
        sign, flags, method, crc, packed_size, size, name_size, extra = _LOCAL.unpack(head)
        name = feed.take(name_size)
        feed.take(extra)
        if sign != b"PK\3\4":
            raise FaultError("the zip file contains no file")
        if not name.endswith(b"/"):
            break
    if member is not None:
        return _Entry(flags, method, member.CRC, member.compress_size, member.file_size)
    described = bool(flags & _DESCRIBED)
    return _Entry(flags, method, None if described else crc, packed_size, size)


def _packed_by(entry: _Entry, feed: Feed) -> Decompressor:
    """Return what unpacks a file in a zip file."""
    if entry.flags & _ENCRYPTED:
        raise FaultError("the zip file is encrypted; unpack it")
    if entry.method == _STORED:
        if entry.crc is None:
            raise FaultError("the zip file is truncated, or contains another archive; unpack it")
        return _Stored(entry.packed_size)
    if entry.method == _LZMA:
        properties = feed.take(9)[4:]
        size = -1 if entry.flags & _END_MARKED or entry.crc is None else entry.size
        feed.back(properties + struct.pack("<q", size))
    if entry.method not in _METHODS:
        raise FaultError(f"the zip file is compressed by method {entry.method}; unpack it")
    return _METHODS[entry.method]()


class _Stored:
    """Bytes that are as they were."""

    def __init__(self, size: int) -> None:
        self._left = size
        self.eof = not size
        self.needs_input = True
        self.unused_data = b""

    def decompress(self, data: bytes, max_length: int) -> bytes:  # noqa: ARG002 - they are few
        found, self.unused_data = data[: self._left], data[self._left :]
        self._left -= len(found)
        self.eof = not self._left
        return found


def only_member(file: BinaryIO, name: str) -> ZipInfo | None:
    """Return what the directory of a zip file says of the one file in it.

    None where there is no directory, as the file is cut, or a corrupt one that leads to no file.
    Folders do not count, nor what macOS adds.
    """
    import zipfile

    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _DIRECTORY_END))
    found = file.read(_DIRECTORY_END)
    place = found.rfind(b"PK\5\6")
    if place < 0 or int.from_bytes(found[place + 12 : place + 16], "little") > _DIRECTORY:
        return None
    try:
        with zipfile.ZipFile(file) as directory:
            members = [
                each
                for each in directory.infolist()
                if not each.is_dir() and not each.filename.startswith("__MACOSX/")
            ]
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, IndexError):
        return None
    if len(members) == 1:
        return members[0] if _starts_at(file, members[0].header_offset) else None
    if not members:
        raise InputError(f"{name}: the zip file is empty; name another one")
    names = ", ".join(each.filename for each in members[:_SHOWN_MEMBERS])
    more = ", ..." if len(members) > _SHOWN_MEMBERS else ""
    raise InputError(
        f"{name}: a zip file of {len(members)} files ({names}{more}); unpack it, and name those "
        "that are SMF dumps"
    )


def _starts_at(file: BinaryIO, offset: int) -> bool:
    """Whether a file in a zip file starts at `offset`."""
    if offset < 0:
        return False
    file.seek(offset)
    return file.read(4) == b"PK\3\4"
