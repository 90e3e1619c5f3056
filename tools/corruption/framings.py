"""Files of records in every framing, and where in them each record, length and mark is."""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

from corruption.samples import HEADER, RDW, Sample
from tests.support import variants
from tests.support.variants import EOF, EOR, Written

FRAMINGS = ("rdw", "bdw", "length", "ftp-block", "ftp-record", "none")
PREFIX = {"rdw": 4, "bdw": 4, "length": 4, "ftp-block": 3, "ftp-record": 0, "none": 0}
"""Bytes in front of a record, or of a piece of it."""
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
    """The two bytes of a length in a file: their place, and from where on it counts."""

    at: int
    base: int


@dataclass
class Built:
    """A file in which nothing is wrong.

    codes  where segment codes and descriptors are
    marks  where end marks are
    """

    framing: str
    data: bytes = b""
    records: list[Placed] = field(default_factory=list)
    lengths: list[Length] = field(default_factory=list)
    codes: list[int] = field(default_factory=list)
    marks: list[tuple[int, int]] = field(default_factory=list)


def _form(draw: Random, framing: str, bodies: list[bytes]) -> Written:
    match framing:
        case "none":
            return variants.no_prefix(bodies)
        case "length":
            return variants.by_length(bodies)
        case "ftp-block":
            most = draw.choice((0xFFFF, 0xFFFF, 1000, 100))
            end = struct.pack(">BH", EOF, 0)
            last, end = draw.choice(((EOR, b""), (EOR, end), (EOR | EOF, b"")))
            return variants.ftp_block(bodies, most, last, end)
        case "ftp-record":
            last, end = draw.choice(((b"\xff\1", b""), (b"\xff\3", b""), (b"\xff\1", b"\xff\2")))
            return variants.ftp_record(bodies, last, end)
    word = (
        draw.choice((variants.bdw, variants.bdw, variants.extended_bdw))
        if framing == "bdw"
        else variants.no_bdw
    )
    small = draw.choice((64, 200, 512, 1000, 4096, 27_998))
    held = draw.choice((0, 0, 0, 1, 3))
    small = min(small, _LARGEST_FILLED) if held else small
    spanned = draw.random() < 0.5
    whole = max(map(len, bodies)) + 2 * RDW
    size = small if spanned else max(small, whole)
    return variants.blocked(bodies, word, size, spanned=spanned, records=held)


def drawn(draw: Random, framing: str, samples: Sequence[Sample]) -> Built:
    """Return a file of a framing, in one of its forms, with the places in it."""
    file = _form(draw, framing, [each.body for each in samples])
    found = Built(framing, file.data)
    pieces: list[Length] = []
    null = EOF if framing == "ftp-block" else variants.NULL
    for each, code in _lengths(framing, file.data):
        found.lengths.append(each)
        found.codes += [] if code is None else [code]
        is_piece = framing == "length" if code is None else file.data[code] != null
        pieces += [each] if is_piece else []
    if framing == "ftp-record":
        found.marks = [(end - 2, end) for _, end in file.spans]
    starts = [each.at for each in pieces]
    for sample, (start, end) in zip(samples, file.spans, strict=True):
        own = pieces[bisect_left(starts, start) : bisect_left(starts, end)]
        head = start + PREFIX[framing]
        first = _end(file.data, own[0]) - head if own else len(sample.body)
        escaped = framing == "ftp-record" and b"\xff" in sample.body[:HEADER]
        behind = head if escaped or first < HEADER else head + HEADER
        found.records.append(Placed(sample, start, end, (head, behind), len(own) or 1))
        if framing == "none":
            found.lengths += _of_area(sample, start)
    return found


def _end(data: bytes, length: Length) -> int:
    return length.base + int.from_bytes(data[length.at : length.at + 2], "big")


def _lengths(framing: str, data: bytes) -> Iterator[tuple[Length, int | None]]:
    """Yield the lengths in a sound file, and where the code is that goes with each, if one does."""
    at = block_end = 0
    while at < len(data) and framing not in ("none", "ftp-record"):
        found, code = Length(at, at), None
        if framing == "bdw" and at == block_end:
            block_end = at + variants.block_length(data[at : at + RDW])
            at += RDW
        elif framing == "length":
            found = Length(at + 2, at + RDW)
            at = _end(data, found)
        elif framing == "ftp-block":
            found, code = Length(at + 1, at + 3), at
            at = _end(data, found)
        else:
            code = at + 2
            at = _end(data, found)
        yield found, code


def _of_area(sample: Sample, start: int) -> Iterator[Length]:
    """Yield the length of the QWHS area, by which a record without a prefix says how long it is."""
    area = int.from_bytes(sample.body[24:28], "big") - RDW
    if sample.exact and len(sample.body) > HEADER and 32 <= area < len(sample.body):
        yield Length(start + 28, start + area)
