"""SMF bytes made by hand: nothing here asks the code under test how a record looks.

The one exception is `chunk_of`, which puts finished records into the buffer that decoding reads.
"""

from __future__ import annotations

import datetime as dt
import itertools
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np

from smfparse.reading.chunks import SLACK, Chunk

UTC_NOON = dt.datetime(2026, 3, 4, 12, 0, 0, 250_000, tzinfo=dt.UTC)
"""When MQ captured the data of a record made here, unless told otherwise."""
HEADER = 28
TRIPLET = 8

Write = Callable[..., Path]
"""Writes records to a file of a name; the fixture of ../conftest.py."""


def ebcdic(text: str, width: int) -> bytes:
    return text.encode("cp500").ljust(width, b"\x40")


def stck(moment: dt.datetime) -> int:
    """TOD clock units of a moment; a naive one is taken as QWHSTIME does: local, as it stands."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)
    since_1970 = (aware - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)) // dt.timedelta(microseconds=1)
    return 0x7D91048BCA000000 + (since_1970 << 12)


def packed_date(day: dt.date) -> bytes:
    return bytes.fromhex(f"0{day.year // 100 - 19}{day.year % 100:02}{day:%j}F")


def qwhs_long(
    captured: dt.datetime | None = UTC_NOON,
    start: dt.datetime | None = None,
    duration: int = 0,
    triplets: int = 2,
) -> bytes:
    """QWHS of 52 bytes: `start` is local time, `duration` in whatever unit the subtype has."""
    return _qwhs(52, captured, triplets) + struct.pack(">QQ", stck(start) if start else 0, duration)


def qwhs_short(
    captured: dt.datetime | None = UTC_NOON,
    triplets: int = 4,
    qwhc: bytes | None = None,
    flags: bytes = bytes(4),
) -> bytes:
    """QWHS of 36 bytes with QWHC behind it, as 116/0-2 have; `flags` are garbage there."""
    return _qwhs(36, captured, triplets, flags) + (qwhc_of() if qwhc is None else qwhc)


def _qwhs(
    length: int, captured: dt.datetime | None, triplets: int, flags: bytes = bytes(4)
) -> bytes:
    clock = stck(captured) if captured else 0
    head = struct.pack(">hBBhBBI", length, 1, 0x1A, 1, triplets, 0x10, 0)
    return head + ebcdic("MQ01", 4) + struct.pack(">Q8x", clock) + flags


def qwhc_of(job: str = "", user: str = "") -> bytes:
    names = ebcdic(user, 8), ebcdic(job, 8)
    return struct.pack(">hBB8s12x8s8x8sI40x", 92, 2, 0, *names, names[0], 2)


def stub() -> bytes:
    """QWHS of 115/5-7."""
    return bytes.fromhex("00010180")


def qwhx(qsg: str = "", release: str = "100000") -> bytes:
    return struct.pack(">hBB", 16, 0x10, 0) + ebcdic(qsg, 4) + ebcdic(release, 6) + bytes(2)


def named_block(eyecatcher: str, length: int, ident: int = 0) -> bytes:
    """A block of zeros behind id, length and eye-catcher."""
    return (struct.pack(">HH", ident, length) + ebcdic(eyecatcher, 4)).ljust(length, b"\0")


@dataclass(frozen=True)
class Section:
    """The blocks that one triplet points to; offset, length and count can be made to lie."""

    blocks: Sequence[bytes] = ()
    offset: int | None = None
    length: int | None = None
    count: int | None = None

    def triplet(self, offset: int) -> bytes:
        true = (offset, len(self.blocks[0]), len(self.blocks)) if self.blocks else (0, 0, 0)
        told = zip((self.offset, self.length, self.count), true, strict=True)
        return struct.pack(">IHH", *(fact if lie is None else lie for lie, fact in told))


NOTHING = Section()


def smf_record(
    smf_type: int,
    subtype: int,
    *sections: Section,
    area: bytes = b"",
    local: dt.datetime | None = None,
    system: str = "SYS1",
    qmgr: str = "MQ01",
    release: str = "930",
) -> bytes:
    """One logical MQ record behind its RDW.

    sections  what triplets 1, 2, ... point to; triplet 0 points to `area`
    area      the QWHS area: last in the record, but first where it is the stub form; b"": the long
    local     time in the SMF header; UTC_NOON unless told otherwise
    """
    area = area or qwhs_long()
    parts = [Section([area]), *sections]
    order = range(len(parts)) if area[:2] == b"\0\1" else [*range(1, len(parts)), 0]
    at = HEADER + TRIPLET * len(parts)
    triplets, body = [b""] * len(parts), b""
    for number in order:
        triplets[number] = parts[number].triplet(at + len(body))
        body += b"".join(parts[number].blocks)
    header = _smf_header(smf_type, local, system) + ebcdic(qmgr, 4)
    header += struct.pack(">H", subtype) + ebcdic(release, 3) + b"\0"
    return _with_rdw(header + b"".join(triplets) + body)


def foreign_record(smf_type: int, local: dt.datetime | None = None, system: str = "SYS1") -> bytes:
    """A record without subtype, like those of type 2 and 3 around every SMF dump."""
    return _with_rdw(_smf_header(smf_type, local, system, flags=0x1E))


def lost_record(
    start: dt.datetime,
    end: dt.datetime,
    count: int,
    *,
    system: str = "SYS1",
    flags: int | None = None,
    length: int = 36,
) -> bytes:
    """A record of type 7: `count` records were lost from `start` to `end`, local time.

    flags   None: as SMF writes them for this count
    length  28 leaves out the flags and the longer count; more than 36 appends blanks
    """
    is_long = count > 0xFFFF
    data = (
        _smf_header(7, end, system, flags=0x1E)
        + struct.pack(">HI", 0 if is_long else count, _hundredths(start))
        + packed_date(start.date())
        + struct.pack(">B3xI", 0x80 * is_long if flags is None else flags, count)
    )
    return _with_rdw(data.ljust(length, b"\x40")[: length - 4])


def signature_record(subtype: int, size: int, seed: int = 0) -> bytes:
    """One signature record of a signed log stream, with `size` bytes behind its subtype."""
    header = _smf_header(2, None, "DUMY") + ebcdic("SMF", 4) + struct.pack(">H", subtype)
    return _with_rdw(header + Random(seed).randbytes(size))


def extended_record(
    smf_type: int,
    subtype: int = 1,
    data: bytes = b"",
    *,
    flags: int = 0x7E,
    length: int = 32,
    version: int = 1,
) -> bytes:
    """One record with an extended header, whose fields can be made to lie."""
    header = _smf_header(126, None, "SYS1", flags) + ebcdic("TCP", 4) + struct.pack(">H", subtype)
    extended = struct.pack(">HB25xHxx", length, version, smf_type)
    return _with_rdw(header + extended + data)


def _smf_header(smf_type: int, local: dt.datetime | None, system: str, flags: int = 0x5E) -> bytes:
    moment = local or UTC_NOON.replace(tzinfo=None)
    return (
        struct.pack(">BBI", flags, smf_type, _hundredths(moment))
        + packed_date(moment.date())
        + ebcdic(system, 4)
    )


def _hundredths(moment: dt.datetime) -> int:
    """Hundredths of a second since midnight."""
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    return (moment - midnight) // dt.timedelta(milliseconds=10)


def _with_rdw(data: bytes, code: int = 0) -> bytes:
    return struct.pack(">HBB", len(data) + 4, code, 0) + data


def rdw(records: Iterable[bytes], spans: Mapping[int, Sequence[int]] | None = None) -> bytes:
    """Write records one behind the other.

    `spans` says which of them (from 0) are split, and at which bytes behind the RDW.
    """
    cuts = spans or {}
    return b"".join(
        b"".join(segments(each, cuts[number])) if number in cuts else each
        for number, each in enumerate(records)
    )


def put(path: Path, *data: bytes) -> Path:
    """Write records, or other pieces of a dump, to a file; return its path."""
    path.write_bytes(b"".join(data))
    return path


def segments(record: bytes, cuts: Sequence[int]) -> list[bytes]:
    """Split a record into a first, middle and last segments."""
    data = record[4:]
    ends = [0, *cuts, len(data)]
    pieces = [data[start:end] for start, end in itertools.pairwise(ends)]
    codes = [1, *[3] * (len(pieces) - 2), 2]
    return [_with_rdw(piece, code) for piece, code in zip(pieces, codes, strict=True)]


def chunk_of(*records: bytes, source: str = "test.smf", first: int = 1) -> Chunk:
    """Put records into one chunk, the first of which is record `first` of its source.

    It starts where it would if all records before it were as long as one can be.
    """
    lengths = np.array([len(each) for each in records], np.int64)
    starts = np.cumsum(lengths) - lengths
    buffer = np.frombuffer(b"".join(records) + bytes(SLACK), np.uint8)
    begin = (first - 1) << 16
    numbers = np.arange(len(records)) + first
    return Chunk(source, buffer, starts, lengths, begin + starts, numbers, begin)
