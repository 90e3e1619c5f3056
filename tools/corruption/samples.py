"""Records: small ones that are made here, and those of files, cut out by their lengths alone."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import NamedTuple

from tests.support.variants import plausible, read_rdw

RDW = 4
HEADER = 14
"""Bytes behind the RDW up to the end of the system id."""
_TRIPLETS = 24
"""Bytes behind the RDW in front of the triplets."""
_TRIPLET = struct.Struct(">IHH")
_MOST_TRIPLETS = 16
_START = struct.Struct(">BBI4s4s")
_DAY_HUNDREDTHS = 24 * 3600 * 100
_IN_NAMES = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789$#@ ")
_EDGES = bytes.fromhex("00000D0A1E405E7F80FFFF")


class Kind(NamedTuple):
    """A record with blocks at its last triplet, and a number in each that a table has to show."""

    type: int
    subtype: int
    triplet: int
    table: str
    column: str
    offset: int
    length: int
    version: tuple[int, int] = (0, 0)


KINDS = (
    Kind(115, 2, 2, "qist", "qistmget", 8, 80),
    Kind(115, 201, 1, "qis1", "qis1psno", 8, 104),
    Kind(115, 231, 1, "qcct", "qcctnocc", 20, 64),
    Kind(116, 10, 1, "qcst", "qcstnmsg", 116, 340),
    Kind(116, 0, 2, "qmac", "qmacputa", 16, 48),
    Kind(116, 2, 2, "wqst", "openn", 176, 576, (8, 1)),
)
"""Those that are made; version: place and value of a version word."""


@dataclass(frozen=True)
class Sample:
    """A record, its body behind the RDW, and what a table has to show of it.

    values  table, column, and the number in each block
    """

    body: bytes
    values: tuple[str, str, tuple[int, ...]] | None = None

    @property
    def exact(self) -> bool:
        """Whether the record is as long as what is in it says."""
        return implied(self.body) == len(self.body)


def implied(body: bytes) -> int:
    """Return how long a body is by what is in it, 0 if its type does not say that."""
    kind = body[1] if len(body) > 1 else 0
    if kind == 2 and body[0] & 0x40 and body[18:20] in (b"\0\1", b"\0\2"):
        return 0
    if kind in (2, 3):
        return HEADER
    if kind not in (115, 116):
        return 0
    ends = (offset - RDW + length * count for offset, length, count in _triplets(body))
    return max((_TRIPLETS, *ends))


def triplets_end(body: bytes) -> int:
    """Return where all that says how long a body is ends: its header, or the triplets behind it."""
    if body[1] not in (115, 116):
        return HEADER
    return _TRIPLETS + _TRIPLET.size * sum(1 for _ in _triplets(body))


def _triplets(body: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield the triplets of a body of MQ, which end where the first thing they point to starts."""
    first = len(body)
    for number in range(_MOST_TRIPLETS):
        at = _TRIPLETS + number * _TRIPLET.size
        if at + _TRIPLET.size > first:
            break
        offset, length, count = _TRIPLET.unpack_from(body, at)
        if offset - RDW >= at + _TRIPLET.size:
            first = min(first, offset - RDW)
        yield (offset, length, count) if length and count else (0, 0, 0)


def recognised(body: bytes) -> bool:
    """Whether a record is recognised by its header alone: z/OS wrote its flag and system id."""
    names = body[HEADER - 4 : HEADER].decode("cp500")
    return plausible(body) and body[0] & 0x1F == 0x1E and set(names) <= _IN_NAMES


def made(draw: Random) -> Sample:
    """Return a small record of MQ."""
    kind = draw.choice(KINDS)
    count, triplets = draw.choice((1, 1, 1, 2, 3)), kind.triplet + 1
    numbers = tuple(draw.getrandbits(31) for _ in range(count))
    data = b"".join(_block(draw, kind, number) for number in numbers)
    area = _qwhs(draw, triplets, short=kind.type == 116 and kind.subtype != 10)
    head = _header(draw, 0x5E, kind.type) + "QM01".encode("cp500")
    head += struct.pack(">H", kind.subtype) + "930".encode("cp500") + b"\0"
    start = RDW + _TRIPLETS + triplets * _TRIPLET.size
    head += _TRIPLET.pack(start + len(data), len(area), 1) + bytes((triplets - 2) * _TRIPLET.size)
    body = head + _TRIPLET.pack(start, kind.length, count) + data + area
    return Sample(body, (kind.table, kind.column, numbers))


def foreign(draw: Random) -> Sample:
    """Return a record of another product, which does not say how long it is."""
    head = _header(draw, 0x1E, draw.choice((30, 70, 80)))
    return Sample(head + _noise(draw, draw.randint(1, 90)))


def of_dump(draw: Random) -> Sample:
    """Return the header or trailer of a dump."""
    return Sample(_header(draw, 0x1E, draw.choice((2, 3))))


def signature(draw: Random) -> Sample:
    """Return a signature record of a signed log stream, which does not say how long it is."""
    head = _header(draw, 0x5E, 2) + "SMF ".encode("cp500")
    body = struct.pack(">H", draw.choice((1, 2))) + _noise(draw, draw.randint(0, 400))
    return Sample(head + body)


def in_file(path: Path, longest: int) -> list[Sample]:
    """Return the records of a sound file with RDWs, up to some length."""
    return [Sample(each) for each in read_rdw(path.read_bytes()) if len(each) <= longest]


def _header(draw: Random, flag: int, smf_type: int) -> bytes:
    date = bytes.fromhex(f"01{draw.randint(20, 29)}{draw.randint(1, 365):03}F")
    time = draw.randrange(_DAY_HUNDREDTHS)
    return _START.pack(flag, smf_type, time, date, draw.choice(("SYS1", "A#9 ")).encode("cp500"))


def _block(draw: Random, kind: Kind, number: int) -> bytes:
    head = struct.pack(">HH4s", 0, kind.length, kind.table.upper().encode("cp500"))
    data = bytearray(head + _noise(draw, kind.length - len(head)))
    struct.pack_into(">I", data, kind.offset, number)
    if any(kind.version):
        struct.pack_into(">I", data, *kind.version)
    return bytes(data)


def _qwhs(draw: Random, triplets: int, *, short: bool) -> bytes:
    clock = 0x7D91048BCA000000 + (draw.randrange(1_600_000_000, 1_900_000_000) * 1_000_000 << 12)
    size = 36 if short else 52
    head = struct.pack(">hBBhBBI", size, 1, 0x1A, 1, triplets, 0x10, 0)
    head += "QM01".encode("cp500") + struct.pack(">Q12x", clock)
    return head + (struct.pack(">h", 92) + bytes(90) if short else struct.pack(">QQ", clock, 1))


def _noise(draw: Random, size: int) -> bytes:
    """Return bytes as records have them: zeros, blanks, all ones, and any."""
    style = draw.randrange(4)
    if style == 0:
        return bytes(size)
    if style == 1:
        return bytes(draw.choices(_EDGES, k=size))
    return draw.randbytes(size)
