"""Packed files of several members, of which it is known what each holds."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import sys
import zipfile
import zlib
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

Pack = Callable[[bytes], bytes]


def _stored(data: bytes) -> bytes:
    """Pack by gzip's way to leave data as they are: each byte stands in the packed data."""
    packer = zlib.compressobj(0, wbits=31)
    return packer.compress(data) + packer.flush()


def _checked(data: bytes) -> bytes:
    return zstd.compress(data, options={zstd.CompressionParameter.checksum_flag: 1})


def _zipped(method: int, data: bytes) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", method) as archive:
        archive.writestr(zipfile.ZipInfo("DUMP.smf"), data, method)
    return sink.getvalue()


IN_MEMBERS: dict[str, Pack] = {
    "gzip": lambda data: gzip.compress(data, 1, mtime=0),
    "gzip-stored": _stored,
    "zstd": lambda data: zstd.compress(data, 1),
    "zstd-checked": _checked,
    "xz": lambda data: lzma.compress(data, preset=0),
    "bz2": lambda data: bz2.compress(data, 1),
}
"""Packings whose files may be several, one behind the other."""
_OPENED: dict[str, Callable[[], Any]] = {
    "gzip": lambda: zlib.decompressobj(31),
    "gzip-stored": lambda: zlib.decompressobj(31),
    "zstd": zstd.ZstdDecompressor,
    "zstd-checked": zstd.ZstdDecompressor,
    "xz": lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ),
    "bz2": bz2.BZ2Decompressor,
}
WHOLE: dict[str, Pack] = {
    "zip": lambda data: _zipped(zipfile.ZIP_DEFLATED, data),
    "zip-stored": lambda data: _zipped(zipfile.ZIP_STORED, data),
}
"""Packings of one file."""


def unpacked(name: str, data: bytes) -> bytes | None:
    """Return what is in a file of members, perhaps with zeros between; None: something is wrong."""
    found = b""
    while data:
        one = _OPENED[name]()
        try:
            found += one.decompress(data)
        except Exception:  # each library has errors of its own
            return None
        if not one.eof:
            return None
        data = one.unused_data.lstrip(b"\0")
    return found


def cuts(draw: Random, size: int, most: int) -> list[tuple[int, int]]:
    """Cut `size` bytes into up to so many ranges, some of which may be empty."""
    ends = sorted(draw.randint(0, size) for _ in range(draw.randrange(most)))
    return list(zip([0, *ends], [*ends, size], strict=True))


def twice(draw: Random, data: bytes) -> tuple[str, bytes]:
    """Pack what is packed again, perhaps."""
    if draw.random() < 0.9:
        return "", data
    name = draw.choice(["gzip", "xz", "zstd"])
    return f"-{name}", IN_MEMBERS[name](data)


def together(members: Sequence[bytes]) -> tuple[bytes, list[int]]:
    """Return members behind each other, and where each starts."""
    starts, at = [], 0
    for each in members:
        starts.append(at)
        at += len(each)
    return b"".join(members), starts
