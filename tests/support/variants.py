"""One dump in every variant in which dumps arrive, damaged in every way in which they get damaged.

Scalar code of its own, as plain as can be: nothing here asks the code under test how a file
looks. A record is its body throughout, the bytes behind the RDW: all variants have these.
"""

from __future__ import annotations

import bz2
import gzip
import io
import itertools
import lzma
import struct
import sys
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

BLOCK = 27_998
"""Bytes of a block as the system chooses them: two of them to a track."""
SMALL_BLOCK = 4096
LONGEST = 32_752
"""Bytes of the longest body that SMF takes: 32,756 with the RDW."""
WHOLE, FIRST, LAST, MIDDLE = range(4)
NULL = 0x80
EOR, EOF = 0x80, 0x40
"""Descriptors of FTP block mode: this block ends the record, the file."""
_RDW = struct.Struct(">HBB")
_BLOCK_MODE = struct.Struct(">BH")
_HEADER = struct.Struct(">BBI4s4s")
_DAY_HUNDREDTHS = 24 * 3600 * 100


@dataclass(frozen=True)
class Written:
    """A file, and for each of its records where it is.

    spans  start and end of each record, with all that frames it; the prefix of a block belongs to
           the record that goes on behind it, or to none
    """

    data: bytes
    bodies: tuple[bytes, ...]
    spans: tuple[tuple[int, int], ...]


Write: TypeAlias = Callable[[Sequence[bytes]], Written]


@dataclass(frozen=True)
class Segment:
    """A piece of record `number` (from 0), or a null segment: number None."""

    number: int | None
    code: int
    piece: bytes

    @property
    def data(self) -> bytes:
        return _RDW.pack(len(self.piece) + _RDW.size, self.code, 0) + self.piece


def blocks_of(
    bodies: Sequence[bytes], size: int, *, spanned: bool = True, records: int = 0
) -> list[list[Segment]]:
    """Put records into blocks of `size` bytes, of which four are the BDW.

    spanned  RECFM=VBS: blocks are filled to the last 4 bytes; else VB: records stay whole
    records  that a block holds at most, the rest of it being a null segment; 0: any number
    """
    blocks: list[list[Segment]] = []
    left = held = 0

    def end() -> None:
        if records and blocks and left >= _RDW.size:
            blocks[-1].append(Segment(None, NULL, bytes(left - _RDW.size)))

    for number, body in enumerate(bodies):
        rest, code = body, WHOLE
        while rest:
            needed = 1 if spanned else len(body)
            if left < _RDW.size + needed or (records and held == records and rest is body):
                end()
                blocks.append([])
                left, held = size - _RDW.size, 0
            piece, rest = rest[: left - _RDW.size], rest[left - _RDW.size :]
            later = code in (FIRST, MIDDLE)
            code = (MIDDLE if later else FIRST) if rest else (LAST if later else WHOLE)
            blocks[-1].append(Segment(number, code, piece))
            left -= _RDW.size + len(piece)
        held += 1
    end()
    return blocks


def written_blocks(
    bodies: Sequence[bytes], prefix: Callable[[int], bytes], blocks: list[list[Segment]]
) -> Written:
    """Write blocks, each behind what `prefix` makes of the bytes in it."""
    data, spans = bytearray(), dict[int | None, tuple[int, int]]()
    for block in blocks:
        data += prefix(sum(len(each.data) for each in block))
        for each in block:
            start, _ = spans.get(each.number, (len(data), 0))
            data += each.data
            spans[each.number] = start, len(data)
    return Written(bytes(data), tuple(bodies), tuple(spans[at] for at in range(len(bodies))))


def written_records(
    bodies: Sequence[bytes], frame: Callable[[bytes, bool], bytes], end: bytes = b""
) -> Written:
    """Write records, each as `frame` makes it of the body and whether it is the last, and `end`."""
    framed = [frame(each, number == len(bodies)) for number, each in enumerate(bodies, 1)]
    ends = list(itertools.accumulate(map(len, framed)))
    spans = tuple(zip([0, *ends], ends, strict=False))
    return Written(b"".join(framed) + end, tuple(bodies), spans)


def no_bdw(length: int) -> bytes:
    return b""


def bdw(length: int) -> bytes:
    return struct.pack(">HH", length + 4, 0)


def extended_bdw(length: int) -> bytes:
    return struct.pack(">I", 0x8000_0000 | length + 4)


def blocked(
    bodies: Sequence[bytes],
    prefix: Callable[[int], bytes] = no_bdw,
    size: int = BLOCK,
    *,
    spanned: bool = True,
    records: int = 0,
) -> Written:
    """Write RDW and BDW variants: see `blocks_of` and `written_blocks`."""
    return written_blocks(bodies, prefix, blocks_of(bodies, size, spanned=spanned, records=records))


def no_prefix(bodies: Sequence[bytes]) -> Written:
    return written_records(bodies, lambda body, _: body)


def by_length(bodies: Sequence[bytes]) -> Written:
    return written_records(bodies, lambda body, _: struct.pack(">I", len(body)) + body)


def ftp_block(
    bodies: Sequence[bytes], most: int = 0xFFFF, last: int = EOR, end: bytes = b""
) -> Written:
    """Write FTP block mode: blocks of up to `most` bytes, the last one of all with `last`."""

    def frame(body: bytes, is_last: bool) -> bytes:
        framed = b""
        for at in range(0, len(body), most):
            is_end = at + most >= len(body)
            piece = body[at : at + most]
            framed += _BLOCK_MODE.pack((last if is_last else EOR) * is_end, len(piece)) + piece
        return framed

    return written_records(bodies, frame, end)


def ftp_record(bodies: Sequence[bytes], last: bytes = b"\xff\x01", end: bytes = b"") -> Written:
    """Write FTP record structure: FF is doubled, `last` ends the last record."""

    def frame(body: bytes, is_last: bool) -> bytes:
        return body.replace(b"\xff", b"\xff\xff") + (last if is_last else b"\xff\x01")

    return written_records(bodies, frame, end)


@dataclass(frozen=True)
class Variant:
    """A variant: the framing it is, by its name on the command line, and how it is written."""

    name: str
    framing: str
    write: Write


VARIANTS = (
    Variant("rdw", "rdw", blocked),
    Variant("rdw-respanned", "rdw", partial(blocked, size=SMALL_BLOCK)),
    Variant("rdw-unspanned", "rdw", partial(blocked, size=LONGEST + 8, spanned=False)),
    Variant("rdw-null", "rdw", partial(blocked, size=SMALL_BLOCK, records=3)),
    Variant("bdw", "bdw", partial(blocked, prefix=bdw)),
    Variant("bdw-respanned", "bdw", partial(blocked, prefix=bdw, size=SMALL_BLOCK)),
    Variant("bdw-unspanned", "bdw", partial(blocked, prefix=bdw, size=LONGEST + 8, spanned=False)),
    Variant("bdw-null", "bdw", partial(blocked, prefix=bdw, size=SMALL_BLOCK, records=3)),
    Variant("bdw-extended", "bdw", partial(blocked, prefix=extended_bdw)),
    Variant("bdw-large", "bdw", partial(blocked, prefix=extended_bdw, size=100_000)),
    Variant("none", "none", no_prefix),
    Variant("length", "length", by_length),
    Variant("ftp-block", "ftp-block", ftp_block),
    Variant("ftp-block-short", "ftp-block", partial(ftp_block, most=1000)),
    Variant("ftp-block-eof", "ftp-block", partial(ftp_block, end=_BLOCK_MODE.pack(EOF, 0))),
    Variant("ftp-block-both", "ftp-block", partial(ftp_block, last=EOR | EOF)),
    Variant("ftp-record", "ftp-record", ftp_record),
    Variant("ftp-record-eof", "ftp-record", partial(ftp_record, end=b"\xff\x02")),
    Variant("ftp-record-both", "ftp-record", partial(ftp_record, last=b"\xff\x03")),
)
BY_NAME = {each.name: each for each in VARIANTS}
FRAMINGS = tuple(sorted({each.framing for each in VARIANTS}))


# Reading: strictly, so that what it takes is a whole file of the variant and nothing else.

Found: TypeAlias = list[tuple[int, bytes]]
"""Where each record starts, with what frames it, and its body."""


def read_rdw(data: bytes) -> list[bytes]:
    """Return the records of an RDW stream. Raises ValueError where it is not sound."""
    return [body for _, body in _read_rdw(data)]


def read(framing: str, data: bytes) -> list[bytes]:
    """Return the records of a file. Raises ValueError where anything in it is not sound."""
    bodies = [body for _, body in read_at(framing, data)]
    for number, body in enumerate(bodies, 1):
        _check(plausible(body), f"record {number} has no SMF header")
    return bodies


def read_at(framing: str, data: bytes) -> Found:
    """Return the records of a file, whatever is in them, and where each starts."""
    return _READERS[framing](data)


def plausible(body: bytes) -> bool:
    """Whether a record starts with an SMF header: flag, type, time and packed date."""
    if len(body) < _HEADER.size:
        return False
    _, _, time, date, _ = _HEADER.unpack_from(body)
    digits = date.hex()
    if not digits[:-1].isdecimal() or digits[-1] not in "abcdef":
        return False
    year, day = 1900 + int(digits[:4]), int(digits[4:7])
    return time < _DAY_HUNDREDTHS and 1960 <= year < 2100 and 1 <= day <= 366


def block_length(data: bytes) -> int:
    """Return the length that a block descriptor word at the start says; 0: it is none."""
    (word,) = struct.unpack_from(">I", data.ljust(4, b"\0"))
    length: int = word & 0x7FFF_FFFF if word >> 31 else word >> 16
    return length if length >= 8 and (word >> 31 or not word & 0xFFFF) else 0


def _check(good: bool, reason: str) -> None:
    if not good:
        raise ValueError(reason)


def _segments(data: bytes, at: int, end: int) -> Iterator[tuple[int, int, bytes]]:
    """Yield place, code and piece of each segment, null segments left out."""
    while at < end:
        _check(at + _RDW.size <= end, f"half an RDW at {at}")
        length, code, zero = _RDW.unpack_from(data, at)
        _check(zero == 0 and (code <= MIDDLE or code == NULL), f"no RDW at {at}")
        _check(_RDW.size <= length <= end - at, f"the RDW at {at} says {length}")
        piece = data[at + _RDW.size : at + length]
        if code == NULL:
            _check(not any(piece), f"a null segment at {at} that is not null")
        else:
            yield at, code, piece
        at += length


def _joined(segments: Iterator[tuple[int, int, bytes]]) -> Found:
    found: Found = []
    goes_on = False
    for at, code, piece in segments:
        _check((code in (LAST, MIDDLE)) == goes_on, "a segment is missing")
        if goes_on:
            found[-1] = (found[-1][0], found[-1][1] + piece)
        else:
            found.append((at, piece))
        goes_on = code in (FIRST, MIDDLE)
    _check(not goes_on, "the last segment is missing")
    return found


def _read_rdw(data: bytes) -> Found:
    return _joined(_segments(data, 0, len(data)))


def _read_bdw(data: bytes) -> Found:
    return _joined(_segments_of_blocks(data))


def _segments_of_blocks(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    at = 0
    while at < len(data):
        length = block_length(data[at : at + 4])
        _check(0 < length <= len(data) - at, f"the BDW at {at} says {length}")
        yield from _segments(data, at + 4, at + length)
        at += length


def _read_none(data: bytes) -> Found:
    starts = [
        at
        for at in range(len(data))
        if data[at] in (0x5E, 0x1E)
        and data[at + 1 : at + 2] in (b"\x02", b"\x03", b"\x73", b"\x74")
        and plausible(data[at:])
    ]
    _check(starts[:1] == [0], "no SMF header at the start")
    return [(start, data[start:end]) for start, end in itertools.pairwise([*starts, len(data)])]


def _read_length(data: bytes) -> Found:
    found, at = [], 0
    while at < len(data):
        _check(at + 4 <= len(data), f"half a length at {at}")
        (length,) = struct.unpack_from(">I", data, at)
        _check(length <= len(data) - at - 4, f"the length at {at} says {length}")
        found.append((at, data[at + 4 : at + 4 + length]))
        at += 4 + length
    return found


def _read_ftp_block(data: bytes) -> Found:
    found: Found = []
    body, start, at = b"", 0, 0
    while at < len(data):
        _check(at + _BLOCK_MODE.size <= len(data), f"half a block header at {at}")
        flags, length = _BLOCK_MODE.unpack_from(data, at)
        start = at if not body else start
        at += _BLOCK_MODE.size
        _check(not flags & ~(EOR | EOF) and (flags or length) > 0, f"no block at {at - 3}")
        _check(length <= len(data) - at, f"the block at {at - 3} says {length}")
        body += data[at : at + length]
        at += length
        if flags & EOR:
            found.append((start, body))
            body = b""
        _check(not flags & EOF or not body, "the file ends inside of a record")
    _check(not body, "the last record has no end")
    return found


def _read_ftp_record(data: bytes) -> Found:
    found: Found = []
    body, start, at = b"", 0, 0
    while at < len(data):
        escape = data.find(b"\xff", at)
        code = data[escape + 1 : escape + 2]
        _check(escape >= 0, "the last record has no end")
        _check(code in (b"\xff", b"\x01", b"\x02", b"\x03"), f"no escape at {escape}")
        body += data[at:escape]
        at = escape + 2
        if code == b"\xff":
            body += code
            continue
        if code != b"\x02":
            found.append((start, body))
            body = b""
        _check(not body, "the file ends inside of a record")
        start = at
    _check(not body, "the last record has no end")
    return found


_READERS = {
    "rdw": _read_rdw, "bdw": _read_bdw, "none": _read_none, "length": _read_length,
    "ftp-block": _read_ftp_block, "ftp-record": _read_ftp_record,
}  # fmt: skip


# Damage.


def cut(file: Written, size: int = 20) -> bytes:
    return file.data[:-size]


def padded(file: Written, size: int = 1000) -> bytes:
    """Zeros up to some block size behind the end."""
    return file.data + bytes(size)


def with_line_ends(file: Written, end: bytes = b"\r\n") -> bytes:
    """A line end behind every record."""
    ends = [0, *(place for _, place in file.spans)]
    pieces = (file.data[start:place] for start, place in itertools.pairwise(ends))
    return b"".join(piece + end for piece in pieces) + file.data[ends[-1] :]


def with_garbage(file: Written, number: int, garbage: bytes) -> bytes:
    """Something that is no record in front of record `number` (from 0)."""
    at = file.spans[number][0]
    return file.data[:at] + garbage + file.data[at:]


def flipped(file: Written, number: int, mask: bytes) -> bytes:
    """The prefix of a record is hit: some of its bits are turned over."""
    at = file.spans[number][0]
    hit = bytes(old ^ bit for old, bit in zip(file.data[at:], mask, strict=False))
    return file.data[:at] + hit + file.data[at + len(mask) :]


def without_segment(
    bodies: Sequence[bytes], size: int, number: int, which: int, prefix: Callable[[int], bytes]
) -> bytes:
    """Segment `which` of record `number` never arrived, in a file of blocks of `size` bytes."""
    blocks = blocks_of(bodies, size)
    mine = [each for block in blocks for each in block if each.number == number]
    lost = mine[which]
    kept = [b"".join(each.data for each in block if each is not lost) for block in blocks]
    return b"".join(prefix(len(data)) + data for data in kept if data)


_SWAPPED = bytes.maketrans(bytes.fromhex("5FB0BABBADBD"), bytes.fromhex("B05FADBDBABB"))
_LATIN_1 = {each: bytes(range(256)).decode(each).encode("latin-1") for each in ("cp037", "cp500")}
_LATIN_1["cp1047"] = _SWAPPED.translate(_LATIN_1["cp037"])
CODE_PAGES = tuple(sorted(_LATIN_1))
"""EBCDIC code pages; cp1047 is cp037 but for ^ [ ] and three letters."""


def translated(data: bytes, code_page: str) -> bytes:
    """EBCDIC to Latin-1, byte for byte, as FTP does without `binary`."""
    return data.translate(_LATIN_1[code_page])


def translated_lines(file: Written, code_page: str, end: bytes = b"\r\n") -> bytes:
    """What FTP makes of records in text mode: translated, no prefixes, a line a record."""
    return b"".join(translated(each, code_page) + end for each in file.bodies)


def as_utf_8(data: bytes, code_page: str) -> bytes:
    """Translated, and then saved by something that writes UTF-8."""
    return translated(data, code_page).decode("latin-1").encode("utf-8")


# Packing.


def _zip(data: bytes) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("DUMP.smf", data)
    return sink.getvalue()


PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "bz2": partial(bz2.compress, compresslevel=1),
    "gzip": partial(gzip.compress, compresslevel=1, mtime=0),
    "xz": partial(lzma.compress, preset=0),
    "zip": _zip,
    "zstd": partial(zstd.compress, options={zstd.CompressionParameter.content_size_flag: 0}),
}
