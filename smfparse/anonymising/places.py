"""The places of names, numbers and times in the records of a chunk, and of records in the file.

The fields of blocks define which bytes are names, numbers and times. `shift_times` shifts SMF
dates, clocks in blocks, and tokens by whole days.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

import numpy as np
from construct import Array, Struct

from smfparse.decoding.records import BlockIndex, Blocks, HeaderAreas, Records
from smfparse.errors import DamageLog, RequestError
from smfparse.layout.blocks import Block
from smfparse.layout.columns import Field, Repeat
from smfparse.reading.chunks import Chunk
from smfparse.reading.segments import RDW_SIZE
from smfparse.schemas import QWHC, QWHS, QWHX, QWST, REGISTRY, WHOLE_RECORDS
from smfparse.vectors import Bools, Bytes, Ints, each_of, gather

SYSTEM = "system"
QMGR = "qmgr"
KINDS: Mapping[str, tuple[str, ...]] = {
    SYSTEM: (),
    QMGR: ("qwhsssid", "qcstrqmn"),
    "group": ("qwhxqsg", "qqstqsgn", "qcctqsgn"),
    "job": ("qwhccn", "wtidccn", "qcctjobn"),
    "user": ("qwhcaid", "qwhcopid", "wtidopid", "wtidtran"),
    "queue": ("objname", "basename", "qqstqnam"),
    "channel": ("wtidchl", "qcstchnm"),
    "address": ("wtidchlc", "qcstcnnm"),
    "certificate": ("qcstslcn", "qcstslsn"),
}
"""Fields by kind of name; the SMF header also contains the system and the queue manager."""
OF_HEADER = {SYSTEM: QWST.field("sm115sid"), QMGR: QWST.field("sm115SSI")}
"""Adjacent fields with names in the SMF header; only MQ records have a queue manager."""
BINARY = ("qcstslsn",)
"""Fields of names that are not text."""
AREA = (QWHS, QWHC, QWHX)
"""Blocks in the QWHS area of every MQ record."""
_KIND_OF = {field: kind for kind, fields in KINDS.items() for field in fields}
_OPEN = ("ebcdic", "bytes", "pad")
"""Kinds of fields that are not numbers; they may contain names at any position."""
_EYE = "eye"
_TOKENS = ("correl",)
"""Tokens of tasks, which begin with the start time of the task."""


@cache
def blocks() -> Mapping[str, Block]:
    """Return all blocks of MQ records, by name."""
    found = {block.name: block for each in REGISTRY.values() for block in each.values()}
    return found | {block.name: block for block in AREA}


@cache
def named_fields(block: Block) -> tuple[tuple[str, Field], ...]:
    """Return the kind of name and the field, for each field of a block that contains names."""
    return tuple((_KIND_OF[each.name], each) for each in block.own if each.name in _KIND_OF)


@cache
def clocks(block: Block) -> tuple[Field, ...]:
    """Return the fields of a block that begin with a TOD clock."""
    return tuple(
        each for each in block.own if each.kind.fact == "stck_timestamp" or each.name in _TOKENS
    )


@cache
def numbers(block: Block) -> Bools:
    """Return which bytes of a block are numbers, times or an eye-catcher: bool (bytes,)."""
    found: Bools = np.ones(block.size, np.bool_)
    for start, width in _texts(block):
        found[start : start + width] = False
    if block.eyecatcher is not None:
        start, eye = block.eyecatcher
        found[start : start + len(eye)] = True
    return found


def _texts(block: Block) -> Iterator[tuple[int, int]]:
    """Yield the offset and length of the bytes in a block that are not numbers."""
    for name, (offset, member) in block.members.items():
        if isinstance(member, Repeat):
            yield from _entries(block, member)
            continue
        field = block.field(name)
        if field.kind.fact in _OPEN and _EYE not in name:
            count = member.count if isinstance(member, Array) else 1
            yield offset, field.kind.width * count


def _entries(block: Block, member: Repeat) -> Iterator[tuple[int, int]]:
    if not isinstance(member.subcon, Struct):
        return
    width = member.subcon.sizeof()
    for each in member.subcon.subcons:
        field = block.field(each.name)
        if field.kind.fact in _OPEN:
            for number in range(len(member.cells)):
                yield field.offset + number * width, field.kind.width


_INDEX = BlockIndex(block for block in blocks().values() if block not in AREA)


class Places(NamedTuple):
    """Fields of one width, with names of one kind. Places `at` in the buffer: int64 (fields,)."""

    kind: str
    at: Ints
    width: int
    is_text: bool = True


class Named:
    """The names, clocks and numbers in the records of a chunk.

    damage  log for blocks that cannot be used; None: such blocks are not recorded
    """

    def __init__(self, chunk: Chunk, damage: DamageLog | None = None) -> None:
        self.chunk = chunk
        records = Records(chunk, DamageLog(keep=0) if damage is None else damage, _INDEX)
        areas = HeaderAreas(records)
        self._is_mq = records.is_mq
        self._found = {
            name: (block, areas.part(block) if block in AREA else records.blocks(block))
            for name, block in blocks().items()
        }

    def places(self) -> Iterator[Places]:
        """Yield the places of names."""
        for kind, field in OF_HEADER.items():
            start = self.chunk.start if kind == SYSTEM else self.chunk.start[self._is_mq]
            yield Places(kind, start + field.offset, field.kind.width)
        for block, found in self._found.values():
            for kind, field in named_fields(block):
                there = found.at[found.length >= field.end]
                if there.size:
                    text = field.name not in BINARY
                    yield Places(kind, there + field.offset, field.kind.width, text)

    def clocks(self) -> Iterator[Ints]:
        """Yield the places of clocks in the buffer."""
        for block, found in self._found.values():
            for field in clocks(block):
                there = found.at[found.length >= field.end]
                if there.size:
                    yield there + field.offset

    def are_numbers(self, at: Ints) -> Bools:
        """Return which of the bytes at places `at` in the buffer are numbers or eye-catchers."""
        found = self._in_headers(at)
        for block, places in self._found.values():
            _add_numbers(found, at, places, numbers(block))
        return found

    def owner(self, at: Ints) -> tuple[Ints, Ints]:
        """Return the index of the record of each byte, and the place of the byte in the record.

        The 4 bytes of a descriptor word count as part of the previous record, because not all
        records have a descriptor word.
        """
        start = self.chunk.start
        owner = np.maximum(np.searchsorted(start + RDW_SIZE, at, side="right") - 1, 0)
        return owner, at - start[owner]

    def _in_headers(self, at: Ints) -> Bools:
        """Return which bytes are in SMF headers, outside the fields of names."""
        owner, within = self.owner(at)
        names = (within >= OF_HEADER[SYSTEM].offset) & (within < OF_HEADER[QMGR].end)
        size = np.where(self._is_mq[owner], QWST.size, OF_HEADER[SYSTEM].offset)
        found: Bools = (within >= RDW_SIZE) & (within < size) & ~names
        return found


def _add_numbers(found: Bools, at: Ints, places: Blocks, template: Bools) -> None:
    """Set `found` for bytes that are numbers in blocks of one kind; `places` ascend."""
    if not len(places):
        return
    which = np.maximum(np.searchsorted(places.at, at, side="right") - 1, 0)
    within = at - places.at[which]
    inside = (within >= 0) & (within < np.minimum(places.length[which], template.size))
    found[inside] |= template[within[inside]]


_TWICE = 0xFF
"""Byte that is doubled in the records of files with FTP record structure."""


class InFile(NamedTuple):
    """The places in a file of a record's bytes, without its descriptor word.

    start, end  place of the first byte, and place after the last byte
    pieces      places of all bytes: a slice of consecutive places, or int64 (bytes,)
    """

    start: int
    end: int
    pieces: slice | Ints

    def shifted(self, low: int) -> slice | Ints:
        """Return the places in a buffer that begins at byte `low` of the file."""
        if isinstance(self.pieces, slice):
            return slice(self.start - low, self.end - low)
        return self.pieces - low


def bytes_in_file(chunk: Chunk) -> Iterator[InFile]:
    """Yield the places in the file of the records of a chunk, in order."""
    if chunk.pieces is None:
        yield from _escaped(chunk)
        return
    found = chunk.pieces
    first, final, at, size = (
        each.tolist() for each in (found.first, found.final, found.at, found.size)
    )
    for begin, last in zip(first, final, strict=True):
        start, end = at[begin], at[last] + size[last]
        if begin == last:
            yield InFile(start, end, slice(start, end))
        else:
            pieces = range(begin, last + 1)
            every = [np.arange(at[each], at[each] + size[each]) for each in pieces]
            yield InFile(start, end, np.concatenate(every))


def _escaped(chunk: Chunk) -> Iterator[InFile]:
    places = zip(
        *(each.tolist() for each in (chunk.start, chunk.length, chunk.offset)), strict=True
    )
    for start, length, offset in places:
        body: Bytes = chunk.buffer[start + RDW_SIZE : start + length]
        twice = body == _TWICE
        every = offset + np.arange(body.size) + np.cumsum(twice) - twice
        yield InFile(int(every[0]), int(every[-1]) + 1, every)


_DATE = QWST.field("sm115dte")
"""Date field in the SMF header of every record: 0CYYDDDF."""
_TYPE = QWST.field("sm115rty").offset
_CLOCK = 8
"""Number of bytes of a TOD clock value."""
_DAY = 86_400_000_000 << 12
"""Number of units of the TOD clock per day."""
_CENTURY = 1900


def shift_times(buffer: Bytes, named: Named, days: int) -> None:
    """Shift the times in the records of a chunk, in `buffer`, by `days`.

    Raises RequestError if a date would be before 1900 or after 2041, the last year of the clock.
    """
    if not days:
        return
    at = _dates(named.chunk)
    rows = gather(buffer, at, _DATE.kind.width)
    dates, which = np.unique(rows.view(">u4")[:, 0], return_inverse=True)
    moved = np.array([_moved(each, days) for each in dates.tolist()], ">u4")
    _put(buffer, at, moved[which].view(np.uint8).reshape(-1, _DATE.kind.width))
    for at in named.clocks():
        clocks = gather(buffer, at, _CLOCK).view(">u8")[:, 0]
        are_set = clocks != 0
        later = (clocks[are_set].astype(np.int64) + days * _DAY).astype(">u8")
        _put(buffer, at[are_set], later.view(np.uint8).reshape(-1, _CLOCK))


def _dates(chunk: Chunk) -> Ints:
    """Return the places of packed dates: in headers, and in records that consist of one block."""
    found = [chunk.start + _DATE.offset]
    for smf_type, block in WHOLE_RECORDS.items():
        for field in block.own:
            if field.kind.fact == "smf_moment":
                dated = (chunk.buffer[chunk.start + _TYPE] == smf_type) & (
                    chunk.length >= field.end
                )
                found.append(chunk.start[dated] + field.end - _DATE.kind.width)
    return np.concatenate(found)


def _put(buffer: Bytes, at: Ints, rows: Bytes) -> None:
    buffer[each_of(at, rows.shape[1])] = rows


def _moved(packed: int, days: int) -> int:
    """Return a packed date `days` later; a value that is not a date is returned unchanged."""
    digits = f"{packed:08X}"
    if not (digits[:-1].isdecimal() and digits[-1] in "CF"):
        return packed
    year, day = _CENTURY + int(digits[:-4]), int(digits[-4:-1])
    date = dt.date(year, 1, 1) + dt.timedelta(days=day - 1 + days)
    if not _CENTURY <= date.year <= 2041:
        raise RequestError(
            f"shift_days={days}: {date} is outside the range of SMF dates and TOD clocks; shift by "
            "fewer days",
            "shift_days",
        )
    return int(f"{date.year - _CENTURY:04}{date:%j}{digits[-1]}", 16)
