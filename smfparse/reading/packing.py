"""The bytes of an input as they were before it was packed, in constant memory.

Packings (gzip, zstd, xz, bz2, zip) are told by the first bytes of a file, never by its name, and
found inside each other. What was unpacked before a cut or a corrupt place is given, to the byte,
and what is wrong is said at its end.
"""

from __future__ import annotations

import os
import re
import stat
import struct
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol

from smfparse.errors import InputError

if TYPE_CHECKING:
    from zipfile import ZipInfo

DEEPEST = 4
"""Packings inside each other that are undone."""
FREE_BYTES = 64 << 20
"""As much is unpacked in any case."""
MOST_GAIN = 1000
"""Bytes for each packed byte that are unpacked beyond that: `zstd -19` makes 27 of class 3."""
USUAL_GAIN = 10
"""About the bytes that a packed byte of SMF data becomes: docs/performance.md."""
_MOST_MEMORY = 256 << 20
"""Bytes of dictionary that xz and lzma may ask for; `xz -9` asks for 64 MB. zstd has 128 MB."""
_READ = 128 << 10
_BLOCK = 1 << 20
"""Bytes that are read, and unpacked, at once."""
_HEAD = 10
"""Bytes that tell a packing."""
_SHOWN = 5
"""Files of a zip file that are named."""
_DIRECTORY = 1 << 20
"""Bytes of the directory of a zip file that is read."""
_DIRECTORY_END = 22 + 0xFFFF
"""Bytes at the end of a zip file in which the end of its directory starts."""
_DESCRIPTOR = 24
"""Bytes behind a file in a zip file, at most, that tell its checksum and sizes."""
_LOCAL = struct.Struct("<4s2xHH4xIIIHH")
"""Before a file in a zip file: signature, flags, method, checksum, sizes packed and not, then of
name and extra field (APPNOTE.TXT 4.3.7)."""
_ENCRYPTED, _END_MARKED, _DESCRIBED = 1, 2, 8
"""Flags of a file in a zip file."""
_STORED, _LZMA = 0, 14
_METHODS = {8: "deflate", 12: "bz2", _LZMA: "lzma", 93: "zstd", 95: "xz"}
_MAGIC = {
    "gzip": re.compile(rb"\x1f\x8b\x08"),
    "zstd": re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18", re.DOTALL),
    "xz": re.compile(rb"\xfd7zXZ\x00"),
    "bz2": re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"),
    "zip": re.compile(rb"PK(\x03\x04|\x05\x06)"),
}
"""How packed data starts; no SMF record does, in any of the forms in which files arrive."""


class Unpacked:
    """The bytes of an input.

    packing  how it was packed, outermost first: ("zip", "gzip"); () where it is not
    size     bytes of a file that is not packed, else None
    file     the file itself, unbuffered, where it is not packed: it may be sought and mapped
    fault    once `readinto` has returned 0: why the unpacking ended early, else None
    """

    def __init__(self, packing: tuple[str, ...], file: BinaryIO, feed: _Feed | None) -> None:
        self.packing = packing
        self.size = None if packing else os.fstat(file.fileno()).st_size
        self.file = None if packing else file
        self.fault: str | None = None
        self._feed = feed

    def readinto(self, buffer: memoryview) -> int:
        """Fill `buffer` as far as there is something at once; return how far, 0 at the end."""
        if self._feed is None:
            return self.file.readinto(buffer)  # type: ignore[union-attr, no-any-return]
        data = self._feed.read(len(buffer))
        self.fault = self._feed.fault
        buffer[: len(data)] = data
        return len(data)


@contextmanager
def unpacked(path: Path, name: str | None = None) -> Iterator[Unpacked]:
    """Open a file to read the bytes that are packed in it, or its own.

    name  what the user calls it; the path unless told otherwise

    Raises InputError where it cannot be opened, and where a zip file does not hold just one file.
    """
    name = name or str(path)
    try:
        file = path.open("rb", buffering=0)
    except OSError as error:
        raise InputError(f"{name}: {error.strerror or error}") from error
    with file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise InputError(f"{name}: a pipe or device, which can be read only once")
        packing, feed = _opened(file, name)
        if feed is None:
            file.seek(0)
        yield Unpacked(packing, file, feed)


def is_packed(path: Path) -> bool:
    """Whether a file is packed. Raises OSError where it cannot be read."""
    with path.open("rb", buffering=0) as file:
        return _packing(file.read(_HEAD)) is not None


def _packing(head: bytes) -> str | None:
    return next((name for name, magic in _MAGIC.items() if magic.match(head)), None)


def _opened(file: BinaryIO, name: str) -> tuple[tuple[str, ...], _Feed | None]:
    """Return how a file is packed, and a feed of what is packed in it."""
    found: tuple[str, ...] = ()
    feed: _Feed | None = None
    head = file.read(_HEAD)
    packed = _Packed(file)
    blocks: Callable[[], Iterator[bytes]] = packed.blocks
    while kind := _packing(head):
        if len(found) == DEEPEST:
            raise InputError(f"{name}: packed more than {DEEPEST} times over; unpack it")
        member = None
        if kind == "zip" and not found and (member := _only_member(file, name)):
            packed.start = member.header_offset
        found = (*found, kind)
        blocks = partial(_unpacked, packed, blocks, kind, member)
        feed = _Feed(blocks())
        head = feed.take(_HEAD)
        feed.back(head)
    return found, feed


class _FaultError(Exception):
    """Why no more can be unpacked."""


class _CorruptError(_FaultError):
    """A library cannot go on; it gives nothing of the block in which it finds out."""


class _Packed:
    """A packed file: where what is packed starts, and how far it was read."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.start = 0
        self.read = 0

    def blocks(self) -> Iterator[bytes]:
        """Yield the bytes of the file."""
        self.file.seek(self.start)
        while data := self.file.read(_READ):
            self.read = max(self.read, self.file.tell() - self.start)
            yield data

    def check(self, made: int) -> None:
        """Raise _FaultError where `made` bytes are more than honest data becomes."""
        if made > FREE_BYTES and made > MOST_GAIN * self.read:
            raise _FaultError(
                f"more than {MOST_GAIN:,} bytes for each packed byte, which no SMF data becomes; "
                "the rest is not unpacked"
            )


class _Feed:
    """Blocks as a stream; `fault` says why they ended early."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks
        self._held = b""
        self._at = 0
        self.fault: str | None = None

    def read(self, most: int | None = None) -> bytes:
        """Return some bytes, not more than `most`; none at the end only."""
        if self._at == len(self._held):
            try:
                self._held, self._at = next(self._blocks, b""), 0
            except _FaultError as error:
                self._held, self._at, self.fault = b"", 0, str(error)
        start, self._at = self._at, len(self._held)
        if most is not None:
            self._at = min(start + most, self._at)
        return self._held[start : self._at]

    def back(self, data: bytes) -> None:
        """Have `data` read next."""
        self._held, self._at = data + self._held[self._at :], 0

    def take(self, size: int) -> bytes:
        """Return `size` bytes, fewer at the end only."""
        found = b""
        while len(found) < size and (more := self.read()):
            found += more
        self.back(found[size:])
        return found[:size]

    def end(self, name: str) -> _FaultError:
        """Return the fault of packed data that end before they should."""
        return _FaultError(self.fault or f"the {name} data are cut")


def _unpacked(
    packed: _Packed, below: Callable[[], Iterator[bytes]], kind: str, member: ZipInfo | None
) -> Iterator[bytes]:
    """Yield what is packed in the bytes of `below`.

    Where a library fails it keeps to itself what it made of the last bytes that it took: so the
    way to there is gone once more, and then byte by byte.
    """
    given = 0
    layer = _Layer(kind, _Feed(below()))
    try:
        for block in layer.blocks(member):
            given += len(block)
            packed.check(given)
            yield block
    except _CorruptError:
        pass
    else:
        return
    made, last = 0, bytearray()
    try:
        for block in _Layer(kind, _Feed(below()), fine=layer.begun).blocks(member):
            last += block[max(0, given - made) :]
            made += len(block)
    except _FaultError:
        if last:
            yield bytes(last)
        raise


class _Decompressor(Protocol):
    """What the libraries have in common."""

    @property
    def eof(self) -> bool:
        """Whether the stream is at its end."""

    @property
    def needs_input(self) -> bool:
        """Whether it has nothing to go on with."""

    @property
    def unused_data(self) -> bytes:
        """What was taken of the bytes behind the end."""

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Take `data`, and return up to `max_length` bytes of what is unpacked."""


class _Layer:
    """One packing undone.

    fine   packed bytes after which each is taken on its own; None: never
    begun  packed bytes that were taken before those that the library has in hand
    """

    def __init__(self, kind: str, feed: _Feed, fine: int | None = None) -> None:
        self.kind = kind
        self.feed = feed
        self.fine = fine
        self.begun = 0
        self._taken = 0

    def blocks(self, member: ZipInfo | None) -> Iterator[bytes]:
        """Yield what is unpacked. Raises _FaultError where it ends early."""
        if self.kind == "zip":
            yield from self._zip(member)
            return
        while True:
            yield from self._stream(_decompressor(self.kind))
            head = self._behind_zeros()
            if not head:
                return
            if not _MAGIC[self.kind].match(head):
                raise _FaultError(f"the {self.kind} data are followed by something else, not used")
            self.feed.back(head)

    def _stream(self, library: _Decompressor) -> Iterator[bytes]:
        """Yield what one stream holds; what follows it is read next."""
        while not library.eof:
            needed = library.needs_input
            data = self._take() if needed else b""
            try:
                block = library.decompress(data, _BLOCK)
            except Exception as error:  # each library has errors of its own
                raise _CorruptError(f"the {self.kind} data are corrupt: {error}") from error
            if block:
                yield block
            elif needed and not data and not library.eof:
                raise self.feed.end(self.kind)
        self.feed.back(library.unused_data)

    def _take(self) -> bytes:
        alone = self.fine is not None and self._taken >= self.fine
        data = self.feed.read(1 if alone else None)
        self.begun = self._taken
        self._taken += len(data)
        return data

    def _behind_zeros(self) -> bytes:
        """Skip the zero bytes with which a file may be filled up; return the next few bytes."""
        while data := self.feed.read():
            if rest := data.lstrip(b"\0"):
                self.feed.back(rest)
                break
        if self.feed.fault:
            raise self.feed.end(self.kind)
        return self.feed.take(_HEAD)

    def _zip(self, member: ZipInfo | None) -> Iterator[bytes]:
        """Yield the file in a zip file; `member` is what the directory says of it."""
        entry = _entry(self.feed, member)
        crc = 0
        for block in self._stream(_packed_by(entry, self.feed)):
            crc = zlib.crc32(block, crc)
            yield block
        behind = b"" if member else self.feed.take(_DESCRIPTOR + 4)
        if entry.crc is None:
            behind = behind.removeprefix(b"PK\7\10")
            if len(behind) < 4:
                raise self.feed.end("zip")
            entry.crc, behind = int.from_bytes(behind[:4], "little"), behind[12:]
        if crc != entry.crc:
            raise _FaultError("the zip data are corrupt: the checksum is wrong")
        if member is None:
            self._after_first(behind)

    def _after_first(self, behind: bytes) -> None:
        """Check that behind the first file in a zip file the directory starts."""
        while self.feed.read():  # what it is packed in may turn out corrupt at its end
            pass
        if _MAGIC["zip"].search(behind):
            raise _FaultError("the zip file holds more than one file; the others are not used")
        if self.feed.fault or b"PK\1\2" not in behind:
            raise self.feed.end("zip")


@dataclass
class _Entry:
    """What a zip file says of a file in it; `crc` is None where it stands behind the data."""

    flags: int
    method: int
    crc: int | None
    packed_size: int
    size: int


def _entry(feed: _Feed, member: ZipInfo | None) -> _Entry:
    """Read to where the data of the first file in a zip file start."""
    while True:
        head = feed.take(_LOCAL.size)
        if len(head) < _LOCAL.size:
            raise feed.end("zip")
        sign, flags, method, crc, packed_size, size, name_size, extra = _LOCAL.unpack(head)
        name = feed.take(name_size)
        feed.take(extra)
        if sign != b"PK\3\4":
            raise _FaultError("the zip file holds no file")
        if not name.endswith(b"/"):
            break
    if member is not None:
        return _Entry(flags, method, member.CRC, member.compress_size, member.file_size)
    described = bool(flags & _DESCRIBED)
    return _Entry(flags, method, None if described else crc, packed_size, size)


def _packed_by(entry: _Entry, feed: _Feed) -> _Decompressor:
    """Return what unpacks a file in a zip file."""
    if entry.flags & _ENCRYPTED:
        raise _FaultError("the zip file is encrypted; unpack it")
    if entry.method == _STORED:
        if entry.crc is None:
            raise _FaultError("a zip file that was cut, or is packed itself; unpack it")
        return _Stored(entry.packed_size)
    if entry.method == _LZMA:
        properties = feed.take(9)[4:]
        size = -1 if entry.flags & _END_MARKED or entry.crc is None else entry.size
        feed.back(properties + struct.pack("<q", size))
    if entry.method not in _METHODS:
        raise _FaultError(f"the zip file is packed by method {entry.method}; unpack it")
    return _decompressor(_METHODS[entry.method])


def _decompressor(kind: str) -> _Decompressor:
    """Return what unpacks one stream. Libraries are loaded when there is something for them."""
    if kind in ("gzip", "deflate"):
        return _Inflate(31 if kind == "gzip" else -15)
    if kind == "bz2":
        import bz2

        return bz2.BZ2Decompressor()
    if kind == "zstd":
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd
        made: _Decompressor = zstd.ZstdDecompressor()
        return made
    import lzma

    form = lzma.FORMAT_XZ if kind == "xz" else lzma.FORMAT_ALONE
    return lzma.LZMADecompressor(form, _MOST_MEMORY)


class _Inflate:
    """zlib in the way of the others."""

    def __init__(self, bits: int) -> None:
        self._zlib = zlib.decompressobj(bits)
        self.eof = False
        self.needs_input = True

    def decompress(self, data: bytes, max_length: int) -> bytes:
        made = self._zlib.decompress(self._zlib.unconsumed_tail + data, max_length)
        self.eof = self._zlib.eof
        self.needs_input = not self._zlib.unconsumed_tail and len(made) < max_length
        return made

    @property
    def unused_data(self) -> bytes:
        return self._zlib.unused_data


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


def _only_member(file: BinaryIO, name: str) -> ZipInfo | None:
    """Return what the directory of a zip file says of the one file in it.

    None where there is no directory: the file is cut. Folders do not count, nor what macOS adds.
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
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return None
    if len(members) == 1:
        return members[0]
    if not members:
        raise InputError(f"{name}: a zip file without a file in it")
    names = ", ".join(each.filename for each in members[:_SHOWN])
    more = ", ..." if len(members) > _SHOWN else ""
    raise InputError(
        f"{name}: a zip file of {len(members)} files ({names}{more}); unpack it, and name those "
        "that are SMF dumps"
    )
