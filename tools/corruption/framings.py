"""Files of records in every framing, and where in them each record, length and mark is."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

from corruption.samples import HEADER, RDW, Sample

WHOLE, FIRST, LAST, MIDDLE = range(4)
NULL = 0x80
EOR, EOF = 0x80, 0x40
_RECORD_ENDS = ((b"\xff\1", b""), (b"\xff\3", b""), (b"\xff\1", b"\xff\2"))
"""Behind the last record of FTP's record structure, and behind that."""
_LARGEST_FILLED = 1000
"""Bytes of blocks that null segments fill up."""


@dataclass(frozen=True)
class Placed:
    """A record in a file: its first byte with all that frames it, and behind its last.

    head    where its SMF header is, and ends; equal if that is not in one piece
    pieces  in how many pieces it is
    """

    sample: Sample
    start: int
    end: int
    head: tuple[int, int]
    pieces: int = 1


@dataclass(frozen=True)
class Length:
    """A length in a file: its place, its bytes, and from where on it counts."""

    at: int
    width: int
    base: int


@dataclass
class Built:
    """A file in which nothing is wrong.

    codes  where segment codes and descriptors are
    marks  where end marks are
    """

    framing: str
    data: bytearray = field(default_factory=bytearray)
    records: list[Placed] = field(default_factory=list)
    lengths: list[Length] = field(default_factory=list)
    codes: list[int] = field(default_factory=list)
    marks: list[tuple[int, int]] = field(default_factory=list)

    def add(self, sample: Sample, start: int, prefix: int, pieces: int = 1) -> None:
        """Note a record that ends where the data do."""
        head = start + prefix
        in_one = len(self.data) - head >= HEADER
        self.records.append(
            Placed(
                sample,
                start,
                len(self.data),
                (head, head + HEADER if in_one else head),
                pieces,
            )
        )


def none(samples: Sequence[Sample]) -> Built:
    """Write records with nothing between them."""
    built = Built("none")
    for each in samples:
        start = len(built.data)
        built.data += each.body
        built.add(each, start, 0)
        area = struct.unpack_from(">I", each.body.ljust(28, b"\0"), 24)[0] - RDW
        if each.exact and len(each.body) > HEADER and 32 <= area < len(each.body):
            built.lengths.append(Length(start + 28, 2, start + area))
    return built


def by_length(samples: Sequence[Sample]) -> Built:
    """Write a 4-byte length in front of every record."""
    built = Built("length")
    for each in samples:
        start = len(built.data)
        built.lengths.append(Length(start + 2, 2, start + RDW))
        built.data += struct.pack(">I", len(each.body)) + each.body
        built.add(each, start, RDW)
    return built


def ftp_block(samples: Sequence[Sample], most: int, last: int = EOR, *, ended: bool) -> Built:
    """Write FTP's block mode: blocks of up to `most` bytes; `ended`: an empty one at the end."""
    built = Built("ftp-block")
    for each in samples:
        start, pieces = (
            len(built.data),
            [each.body[at : at + most] for at in range(0, len(each.body), most)],
        )
        for number, piece in enumerate(pieces, 1):
            at = len(built.data)
            is_last = each is samples[-1] and number == len(pieces)
            flag = 0 if number < len(pieces) else last if is_last else EOR
            built.codes.append(at)
            built.lengths.append(Length(at + 1, 2, at + 3))
            built.data += struct.pack(">BH", flag, len(piece)) + piece
        built.add(each, start, 3, len(pieces))
        _check_head(built, len(pieces[0]))
    if ended:
        built.codes.append(len(built.data))
        built.data += struct.pack(">BH", EOF, 0)
    return built


def ftp_record(samples: Sequence[Sample], last: bytes, end: bytes = b"") -> Built:
    """Write FTP's record structure: FF is doubled, `last` ends the last record."""
    built = Built("ftp-record")
    for each in samples:
        start = len(built.data)
        built.data += each.body.replace(b"\xff", b"\xff\xff")
        built.marks.append((len(built.data), len(built.data) + 2))
        built.data += last if each is samples[-1] else b"\xff\x01"
        built.add(each, start, 0)
        if b"\xff" in each.body[:HEADER]:
            _check_head(built, 0)
    built.data += end
    return built


def words(
    samples: Sequence[Sample],
    size: int,
    bdw: Callable[[int], bytes] | None,
    *,
    spanned: bool,
    held: int = 0,
) -> Built:
    """Write RDWs in blocks of up to `size` bytes.

    bdw      makes the descriptor word of a block of so many bytes; None: there are none
    spanned  whether records go on in the next block; else they stay whole
    held     records of a block, the rest of which a null segment fills; 0: as many as there is room
    """
    blocks = _Blocks("bdw" if bdw else "rdw", size, bdw)
    for each in samples:
        if held and blocks.count >= held:
            blocks.fill()
        blocks.put(each, spanned)
    blocks.end()
    return blocks.built


class _Blocks:
    """Blocks that are being filled."""

    def __init__(self, framing: str, size: int, bdw: Callable[[int], bytes] | None) -> None:
        self.built = Built(framing)
        self.count = 0
        self._size, self._bdw = size, bdw
        self._start: int | None = None

    def put(self, sample: Sample, spanned: bool) -> None:
        """Put a record in, or into the next block."""
        built, rest, pieces = self.built, sample.body, 0
        start = first = 0
        while rest:
            needed = 1 if spanned else len(sample.body)
            if self._start is None or self._left < RDW + needed:
                self._begin()
            size = min(len(rest), max(self._left - RDW, needed))
            at, piece, rest = len(built.data), rest[:size], rest[size:]
            if not pieces:
                start, first = at, size
            code = (MIDDLE if rest else LAST) if pieces else (FIRST if rest else WHOLE)
            built.lengths.append(Length(at, 2, at))
            built.codes.append(at + 2)
            built.data += struct.pack(">HBB", size + RDW, code, 0) + piece
            pieces += 1
        built.add(sample, start, RDW, pieces)
        _check_head(built, first)
        self.count += 1

    def fill(self) -> None:
        """Fill the block with a null segment."""
        if self._start is not None and self._left >= RDW:
            left = self._left
            self.built.codes.append(len(self.built.data) + 2)
            self.built.data += struct.pack(">HBB", left, NULL, 0) + bytes(left - RDW)
        self.end()

    def end(self) -> None:
        """End the block."""
        if self._start is not None and self._bdw:
            word = self._bdw(len(self.built.data) - self._start)
            self.built.data[self._start : self._start + RDW] = word
        self._start, self.count = None, 0

    def _begin(self) -> None:
        self.end()
        self._start = len(self.built.data)
        if self._bdw:
            self.built.lengths.append(Length(self._start, 2, self._start))
            self.built.data += bytes(RDW)

    @property
    def _left(self) -> int:
        assert self._start is not None
        return self._start + self._size - len(self.built.data)


def _check_head(built: Built, first: int) -> None:
    """Note that the header of the last record is not in one piece, if the first is too short."""
    if first < HEADER:
        placed = built.records[-1]
        head = (placed.head[0], placed.head[0])
        built.records[-1] = Placed(placed.sample, placed.start, placed.end, head, placed.pieces)


def _short_word(length: int) -> bytes:
    return struct.pack(">HH", length, 0)


def _long_word(length: int) -> bytes:
    return struct.pack(">I", 0x8000_0000 | length)


def drawn(draw: Random, framing: str, samples: Sequence[Sample]) -> Built:
    """Return a file of a framing, in one of its forms."""
    small = draw.choice((64, 200, 512, 1000, 4096, 27_998))
    match framing:
        case "none":
            return none(samples)
        case "length":
            return by_length(samples)
        case "ftp-block":
            most = draw.choice((0xFFFF, 0xFFFF, 1000, 100))
            last, ended = draw.choice(((EOR, False), (EOR, True), (EOR | EOF, False)))
            return ftp_block(samples, most, last, ended=ended)
        case "ftp-record":
            return ftp_record(samples, *draw.choice(_RECORD_ENDS))
    word = draw.choice((_short_word, _short_word, _long_word)) if framing == "bdw" else None
    spanned = draw.random() < 0.5
    whole = max(len(each.body) for each in samples) + 2 * RDW
    held = draw.choice((0, 0, 0, 1, 3))
    small = min(small, _LARGEST_FILLED) if held else small
    return words(samples, small if spanned else max(small, whole), word, spanned=spanned, held=held)


FRAMINGS = ("rdw", "bdw", "length", "ftp-block", "ftp-record", "none")
