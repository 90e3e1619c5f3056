"""Decompression of streams: all bytes before truncated or corrupt data are returned.

A packing is a compression format or zip. A `Layer` decompresses one packing. The first layer reads
the `PackedFile`. Each further layer decompresses a packing inside the output of the previous layer.
"""

from __future__ import annotations

import re
import sys
import zlib
from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, Protocol

from smfparse.reading.objects import BrokenError

if TYPE_CHECKING:
    from zipfile import ZipInfo

HEAD = 10
"""Number of bytes at the start of data that are enough to recognise a packing."""
_MOST_GAIN = 1000
"""Maximum decompressed bytes per compressed byte, after the first `Limits.free_bytes` of output.
`zstd -19` compresses class 3 accounting 27-fold.
"""
_MOST_MEMORY = 256 << 20
"""Maximum memory of xz and lzma in bytes. `xz -9` requires 64 MB; zstd limits itself to 128 MB."""
_READ = 128 << 10
_BLOCK = 1 << 20
"""Number of bytes that one step reads from a file (_READ) and decompresses (_BLOCK)."""
_FEW, _MORE = 1 << 7, 4
"""Bytes passed to a library in the first step, and the growth factor for each further step."""


class Packing(NamedTuple):
    """A compression format or zip.

    name    name in the output of `info`
    magic   first bytes of packed data; no SMF record starts with them, in any framing
    unpack  yields the decompressed data of a layer; raises FaultError if the data ends early
    """

    name: str
    magic: re.Pattern[bytes]
    unpack: Callable[[Layer], Iterator[bytes]]


class FaultError(Exception):
    """The reason why decompression ends early."""


class CorruptError(FaultError):
    """A library found corrupt data, and returned no bytes of the block with this data."""


class PackedFile:
    """Reads the blocks of a packed file, and limits how far its data may expand.

    start  offset at which the packed data starts
    read   number of bytes of packed data read so far
    """

    def __init__(self, file: BinaryIO, free_bytes: int) -> None:
        self.file = file
        self.free_bytes = free_bytes
        self.start = 0
        self.read = 0

    def blocks(self) -> Iterator[bytes]:
        """Yield the packed data. Raises FaultError if the file cannot be read further."""
        self.file.seek(self.start)
        while data := self._data():
            self.read = max(self.read, self.file.tell() - self.start)
            yield data

    def _data(self) -> bytes:
        try:
            return self.file.read(_READ)
        except BrokenError as error:
            raise FaultError(error.strerror) from error

    def check(self, made: int) -> None:
        """Raise FaultError if `made` decompressed bytes are too many for the packed bytes read."""
        if made > self.free_bytes and made > _MOST_GAIN * self.read:
            raise FaultError(
                f"expands more than {_MOST_GAIN:,}-fold, which SMF data never does; the rest was "
                "not decompressed"
            )


class Feed:
    """Blocks as a stream of bytes; `fault` is the reason why the stream ended early, or None."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks
        self._held = b""
        self._at = 0
        self.fault: str | None = None

    def read(self, most: int | None = None) -> bytes:
        """Return the available bytes, at most `most`; b'' only at the end of the stream."""
        if self._at == len(self._held):
            try:
                self._held, self._at = next(self._blocks, b""), 0
            except FaultError as error:
                self._held, self._at, self.fault = b"", 0, str(error)
        start, self._at = self._at, len(self._held)
        if most is not None:
            self._at = min(start + most, self._at)
        return self._held[start : self._at]

    def back(self, data: bytes) -> None:
        """Put `data`, usually the last bytes read, back in front of the unread bytes."""
        start = max(self._at - len(data), 0)
        if self._held[start : self._at] == data:
            self._at = start
        else:
            self._held, self._at = data + self._held[self._at :], 0

    def step_over(self, data: bytes) -> None:
        """Skip all copies of `data` that follow in the current block."""
        while data and self._held.startswith(data, self._at):
            self._at += len(data)

    def take(self, size: int) -> bytes:
        """Return `size` bytes; fewer only at the end of the stream."""
        found = b""
        while len(found) < size and (more := self.read(size - len(found))):
            found += more
        return found

    def end(self, name: str) -> FaultError:
        """Return the error for packed data that ends early; `name` is the name of the packing."""
        return FaultError(self.fault or f"the {name} data is truncated")


def unpacked_blocks(
    file: PackedFile,
    below: Callable[[], Iterator[bytes]],
    packing: Packing,
    member: ZipInfo | None,
) -> Iterator[bytes]:
    """Yield the decompressed bytes of packed blocks; `below` returns the blocks from their start.

    A library that fails discards its output for the last bytes that it received. So all data is
    decompressed a second time, and the last bytes are passed to the library one by one.
    """
    given = 0
    layer = Layer(packing, Feed(below()), member)
    try:
        for block in packing.unpack(layer):
            given += len(block)
            file.check(given)
            yield block
    except CorruptError:
        pass
    else:
        return
    made, last = 0, bytearray()
    try:
        for block in packing.unpack(Layer(packing, Feed(below()), member, fine=layer.begun)):
            last += block[max(0, given - made) :]
            made += len(block)
    except FaultError:
        if last:
            yield bytes(last)
        raise


class Decompressor(Protocol):
    """The common interface of the compression libraries."""

    @property
    def eof(self) -> bool:
        """Whether the stream is at its end."""

    @property
    def needs_input(self) -> bool:
        """Whether the decompressor requires more data to continue."""

    @property
    def unused_data(self) -> bytes | None:
        """Bytes received after the end of the stream; lz4 returns None instead of no bytes."""

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Receive `data`, and return up to `max_length` decompressed bytes."""


class Layer:
    """The decompression of one packing.

    member  entry of the file in the directory of a zip file; None: no zip file, or no directory
    fine    number of packed bytes after which the library receives single bytes; None: never
    begun   number of packed bytes passed to the library before the last step
    """

    def __init__(
        self, packing: Packing, feed: Feed, member: ZipInfo | None, fine: int | None = None
    ) -> None:
        self.packing = packing
        self.feed = feed
        self.member = member
        self.fine = fine
        self.begun = 0
        self._taken = 0

    def stream(self, library: Decompressor) -> Generator[bytes, None, bytes]:
        """Yield the decompressed bytes of one stream; `feed` continues after the stream.

        The first step is small, so a short stream costs little. Returns the packed bytes of an
        empty stream if it ends in the first step, otherwise b''.
        """
        most, empty = _FEW, b""
        while not library.eof:
            needed = library.needs_input
            data = self._take(most) if needed else b""
            empty = data if most == _FEW else b""
            most = min(_MORE * most, _BLOCK)
            try:
                block = library.decompress(data, _BLOCK)
            except Exception as error:  # each library raises its own errors
                raise CorruptError(f"the {self.packing.name} data is corrupt: {error}") from error
            if block:
                yield block
                empty = b""
            elif needed and not data and not library.eof:
                raise self.feed.end(self.packing.name)
        rest = library.unused_data or b""
        self.feed.back(rest)
        return empty.removesuffix(rest)

    def _take(self, most: int) -> bytes:
        alone = self.fine is not None and self._taken >= self.fine
        data = self.feed.read(1 if alone else most)
        self.begun = self._taken
        self._taken += len(data)
        return data

    def behind_zeros(self) -> bytes:
        """Skip zero bytes that pad a file; return the next bytes, up to HEAD."""
        while data := self.feed.read(_FEW):
            if rest := data.lstrip(b"\0"):
                self.feed.back(rest)
                break
        if self.feed.fault:
            raise self.feed.end(self.packing.name)
        return self.feed.take(HEAD)


def in_streams(opened: Callable[[], Decompressor]) -> Callable[[Layer], Iterator[bytes]]:
    """Return a function for `Packing.unpack` that decompresses consecutive streams.

    Zero bytes between streams are skipped. Copies of an empty stream are skipped too, because a
    decompressor for each copy would be slow.

    opened  returns a new decompressor for one stream, and imports its library on first use
    """

    def unpack(layer: Layer) -> Iterator[bytes]:
        name = layer.packing.name
        while True:
            empty = yield from layer.stream(opened())
            layer.feed.step_over(empty)
            head = layer.behind_zeros()
            if not head:
                return
            if not layer.packing.magic.match(head):
                raise FaultError(f"other bytes follow the {name} data; they were not used")
            layer.feed.back(head)

    return unpack


def gzip() -> Decompressor:
    """Return a decompressor for a stream of gzip."""
    return _Inflate(31)


def deflate() -> Decompressor:
    """Return a decompressor for deflated data without a header, as in zip files."""
    return _Inflate(-15)


def bz2() -> Decompressor:
    """Return a decompressor for a stream of bzip2."""
    import bz2

    return bz2.BZ2Decompressor()


def zstd() -> Decompressor:
    """Return a decompressor for a frame of zstd."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    made: Decompressor = zstd.ZstdDecompressor()
    return made


def xz() -> Decompressor:
    """Return a decompressor for a stream of xz."""
    import lzma

    return lzma.LZMADecompressor(lzma.FORMAT_XZ, _MOST_MEMORY)


def lzma_alone() -> Decompressor:
    """Return a decompressor for the older lzma format in zip files."""
    import lzma

    return lzma.LZMADecompressor(lzma.FORMAT_ALONE, _MOST_MEMORY)


class _Inflate:
    """A `Decompressor` that uses zlib."""

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
