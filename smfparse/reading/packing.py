r"""The decompressed bytes of an input, in constant memory.

A packing is a compression format or zip. It is detected by the first bytes of a file or of another
packing, never by the file's name. All bytes before truncated or corrupt data are returned; then
`Unpacked.fault` is the reason. A zip file must contain one file. This file is read as a stream,
even if the directory at the end of the zip file is missing.

To add a packing, add a row to PACKINGS: its name, its first bytes, and its decompressor. For lz4
(with `lz4` among the dependencies in pyproject.toml):

    def _lz4() -> Decompressor:
        from lz4.frame import LZ4FrameDecompressor

        return LZ4FrameDecompressor()

    _packing("lz4", rb"\x04\x22\x4d\x18", in_streams(_lz4)),
"""

from __future__ import annotations

import os
import re
import stat
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from smfparse.errors import InputError
from smfparse.limits import LIMITS, Limits
from smfparse.reading.objects import BrokenError
from smfparse.reading.places import ObjectFile, Place, size_at
from smfparse.reading.streams import (
    HEAD,
    Decompressor,
    FaultError,
    Feed,
    Layer,
    PackedFile,
    Packing,
    bz2,
    deflate,
    gzip,
    in_streams,
    lzma_alone,
    unpacked_blocks,
    xz,
    zstd,
)

if TYPE_CHECKING:
    from zipfile import ZipInfo

_SHOWN_MEMBERS = 5
"""Maximum number of names of files in a message about a zip file."""
_DIRECTORY = 1 << 20
"""Maximum bytes of the directory of a zip file. A longer directory is not read."""
_DIRECTORY_END = 22 + 0xFFFF
"""Number of bytes at the end of a zip file in which the end-of-directory record starts."""
_DESCRIPTOR = 24
"""Maximum number of bytes with checksum and sizes after a file in a zip file."""
_LOCAL = struct.Struct("<4s2xHH4xIIIHH")
"""Header before a file in a zip file: signature, flags, method, checksum, compressed and
uncompressed size, sizes of name and extra field (APPNOTE.TXT 4.3.7).
"""
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
"""Signatures of a second file in a zip file, and of the end of its directory."""


def unzipped(layer: Layer) -> Iterator[bytes]:
    """Yield the bytes of the file in a zip file. Raises FaultError if they end early."""
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
        raise FaultError("the zip data is corrupt: the checksum is wrong")
    if member is None:
        _check_behind(feed, behind)


def _check_behind(feed: Feed, behind: bytes) -> None:
    """Raise FaultError unless the directory follows the first file in a zip file."""
    while feed.read():  # the outer packing may be corrupt at its end
        pass
    if _MORE.search(behind):
        raise FaultError("the zip file contains more than one file; only the first file is used")
    if feed.fault or b"PK\1\2" not in behind:
        raise feed.end("zip")


@dataclass
class _Entry:
    """The properties of a file in a zip file; `crc` is None if the checksum follows the data."""

    flags: int
    method: int
    crc: int | None
    packed_size: int
    size: int


def _entry(feed: Feed, member: ZipInfo | None) -> _Entry:
    """Return the properties of the first file in a zip file; `feed` continues with its data."""
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
    """The decompressor of a stored file, whose bytes are not compressed."""

    def __init__(self, size: int) -> None:
        self._left = size
        self.eof = not size
        self.needs_input = True
        self.unused_data = b""

    def decompress(self, data: bytes, max_length: int) -> bytes:  # noqa: ARG002 - `data` is short
        found, self.unused_data = data[: self._left], data[self._left :]
        self._left -= len(found)
        self.eof = not self._left
        return found


def only_member(file: BinaryIO, name: str) -> ZipInfo | None:
    """Return the entry for the only file in a zip file, from its directory.

    Return None if the zip file is truncated and has no directory, or if its directory is corrupt
    and does not contain the file. Folders, and files added by macOS, do not count.
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
        raise InputError(f"{name}: the zip file is empty; name another file")
    names = ", ".join(each.filename for each in members[:_SHOWN_MEMBERS])
    more = ", ..." if len(members) > _SHOWN_MEMBERS else ""
    raise InputError(
        f"{name}: a zip file of {len(members)} files ({names}{more}); unpack it, and name "
        "the SMF files among them"
    )


def _starts_at(file: BinaryIO, offset: int) -> bool:
    if offset < 0:
        return False
    file.seek(offset)
    return file.read(4) == b"PK\3\4"


USUAL_GAIN = 10
"""Typical decompressed bytes per compressed byte of SMF data: docs/performance.md."""
_DEEPEST = 4
"""Maximum number of nested packings."""


def _packing(name: str, magic: bytes, unpack: Callable[[Layer], Iterator[bytes]]) -> Packing:
    return Packing(name, re.compile(magic, re.DOTALL), unpack)


PACKINGS = (
    _packing("gzip", rb"\x1f\x8b\x08", in_streams(gzip)),
    _packing("zstd", rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18", in_streams(zstd)),
    _packing("xz", rb"\xfd7zXZ\x00", in_streams(xz)),
    _packing("bz2", rb"BZh[1-9](1AY&SY|\x17rE8P\x90)", in_streams(bz2)),
    _packing("zip", rb"PK(\x03\x04|\x05\x06)", unzipped),
)
"""All supported packings."""


class Unpacked:
    """The decompressed bytes of an input.

    packing  the packings, outermost first: ("zip", "gzip"); (): not packed
    size     size of the file in bytes; None: it is packed
    file     the file itself, unbuffered and seekable; None: it is packed
    mapped   whether `file` can be mapped, because it is on this machine
    fault    reason why the bytes ended early, known after `readinto` has returned 0; None: no early
             end
    """

    def __init__(self, packing: tuple[str, ...], file: BinaryIO, feed: Feed | None) -> None:
        self.packing = packing
        self.size = None if packing else _size(file)
        self.file = None if packing else file
        self.mapped = not packing and not isinstance(file, ObjectFile)
        self.fault: str | None = None
        self._raw = file
        self._feed = feed

    def readinto(self, buffer: memoryview) -> int:
        """Read available bytes into `buffer`; return their number, 0 at the end."""
        if self._feed is None:
            return self._own(buffer)
        data = self._feed.read(len(buffer))
        self.fault = self._feed.fault
        buffer[: len(data)] = data
        return len(data)

    def _own(self, buffer: memoryview) -> int:
        """Read bytes of a file that is not packed into `buffer`; return their number."""
        try:
            return self.file.readinto(buffer)  # type: ignore[union-attr, no-any-return]
        except BrokenError as error:
            self.fault = error.strerror
            return 0

    def reached(self, place: int) -> int:
        """Return the number of file bytes read for the decompressed bytes up to `place`."""
        return self._raw.tell() if self.packing else place

    def fill(self, buffer: memoryview) -> int:
        at = 0
        while at < len(buffer) and (count := self.readinto(buffer[at:])):
            at += count
        return at


@contextmanager
def unpacked(path: Place, name: str | None = None, limits: Limits = LIMITS) -> Iterator[Unpacked]:
    """Open a file to read its decompressed bytes.

    name  the name given by the user; None: its path

    Raises InputError if the file cannot be opened, or is a zip file of no or several files.
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
    """Whether a file is packed. Raises OSError if it is unreadable."""
    return _is_packed(path) if isinstance(path, Path) else _is_packed_there(path, size_at(path))


def _is_packed(path: Place) -> bool:
    with path.open("rb", buffering=0) as file:
        return packing_of(file.read(HEAD)) is not None


@lru_cache(1 << 14)
def _is_packed_there(path: Place, _size: int) -> bool:
    """Return the cached result of `_is_packed`, because opening a remote file takes long."""
    return _is_packed(path)


def _size(file: BinaryIO) -> int:
    return file.size if isinstance(file, ObjectFile) else os.fstat(file.fileno()).st_size


def packing_of(head: bytes) -> Packing | None:
    """Return the packing of data that starts with `head`; None: not packed."""
    return next((each for each in PACKINGS if each.magic.match(head)), None)


def _opened(file: BinaryIO, name: str, limits: Limits) -> tuple[tuple[str, ...], Feed | None]:
    found: tuple[str, ...] = ()
    feed: Feed | None = None
    head = file.read(HEAD)
    packed = PackedFile(file, limits.free_bytes)
    blocks: Callable[[], Iterator[bytes]] = packed.blocks
    while packing := packing_of(head):
        if len(found) == _DEEPEST:
            raise InputError(f"{name}: compressed more than {_DEEPEST} times; decompress it")
        member = None
        if packing.unpack is unzipped and not found and (member := only_member(file, name)):
            packed.start = member.header_offset
        found = (*found, packing.name)
        blocks = partial(unpacked_blocks, packed, blocks, packing, member)
        feed = Feed(blocks())
        head = feed.take(HEAD)
        feed.back(head)
    return found, feed
