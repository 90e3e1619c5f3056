"""Lines of text that explain the bytes of one record, field by field.

A line contains the offset of a field in the record (hex), raw bytes, IBM's name, and value. Bytes
without a field are shown as hex and EBCDIC text.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from construct import Array, Struct

from smfparse.decoding.records import header_parts
from smfparse.decoding.zones import Zone
from smfparse.errors import RequestError
from smfparse.layout.blocks import Block
from smfparse.layout.clocks import UNIX_EPOCH
from smfparse.layout.columns import Field, Repeat
from smfparse.layout.kinds import ENCODING, Code, Flags
from smfparse.reading.chunks import Chunk
from smfparse.reading.headers import REAL_TYPE, triplet_count, types_of
from smfparse.schemas import (
    ACCOUNTING,
    QWAS,
    QWHC,
    QWHS,
    QWHX,
    QWST,
    REGISTRY,
    STATISTICS,
    TRIPLET,
    WHOLE_RECORDS,
)

_TYPE = QWST.field("sm115rty").offset
_HEX_SHOWN = 16
_ROW = 16
_Span: TypeAlias = tuple[int, int]
"""Offsets of the start and the end of a block in the record."""
_STANDARD = QWST.field("sm115SSI").offset
"""Length in bytes of the SMF header that all record types have in common."""


@dataclass(frozen=True)
class Record:
    """A logical record with its RDW, and its place in the source."""

    source: str
    record_no: int
    offset: int
    data: bytes

    @property
    def type(self) -> int:
        """SMF record type, from the extended header if present."""
        data = np.frombuffer(self.data.ljust(REAL_TYPE.stop, b"\0"), np.uint8)
        return int(types_of(data, np.zeros(1, np.int64), np.array([len(self.data)]))[0])

    @property
    def is_mq(self) -> bool:
        """Whether this is an MQ record that is long enough for a triplet."""
        return self.type in (STATISTICS, ACCOUNTING) and len(self.data) >= QWST.size + TRIPLET.size

    @property
    def header(self) -> Block:
        """Layout of the SMF header."""
        return QWAS if self.type == ACCOUNTING else QWST

    def block(self, triplet: int) -> Block | None:
        """Return the layout of the block that triplet number `triplet` locates; None: unknown."""
        subtype = QWST.field("sm115stf")
        number = int.from_bytes(self.data[subtype.offset : subtype.end])
        return REGISTRY.get((self.type, number), {}).get(triplet)


def find_record(chunk: Chunk, *, number: int | None, at: int | None) -> Record | None:
    """Return record `number`, the record that contains byte `at`, or otherwise the first MQ record.

    Returns None if the chunk does not contain the record.
    """
    for index in range(len(chunk.start)):
        record_no, offset, length = (
            int(each[index]) for each in (chunk.record_no, chunk.offset, chunk.length)
        )
        start = int(chunk.start[index])
        data = chunk.buffer[start : start + length]
        if number is None and at is None:
            hit = data[_TYPE] in (STATISTICS, ACCOUNTING)
        else:
            hit = record_no == number if at is None else offset <= at < offset + length
        if hit:
            return Record(chunk.source, record_no, offset, data.tobytes())
    return None


@dataclass(frozen=True)
class _Page:
    """A record, and the state of its explanation.

    zone   time zone for UTC times; None: UTC
    known  (start, end) of each range of bytes that is already explained
    """

    data: bytes
    zone: Zone | None
    known: list[tuple[int, int]]


def explained(record: Record, zone: Zone | None = None) -> Iterator[str]:
    """Yield the lines that explain a record; `zone` is the time zone for UTC times; None: UTC."""
    yield (
        f"{record.source}: record {record.record_no} at byte 0x{record.offset:X}, "
        f"{len(record.data)} bytes"
    )
    end = min(QWST.size if record.is_mq else _STANDARD, len(record.data))
    page = _Page(record.data, zone, [])
    yield from _block(record.header, page, 0, end, "")
    page.known.append((0, end))
    if record.type != record.data[_TYPE]:
        raw = record.data[REAL_TYPE].hex().upper()
        yield ""
        yield f"Extended SMF header (32 bytes at 0018): the SMF record type is {record.type}"
        yield f"{REAL_TYPE.start:04X}  {raw:<35}  {'smfhdr1_ext_rty':<16}  {record.type}"
        page.known.append((REAL_TYPE.start, REAL_TYPE.stop))
    if record.is_mq:
        yield from _sections(record, page)
    elif record.type in WHOLE_RECORDS:
        yield from _block(WHOLE_RECORDS[record.type], page, 0, len(record.data), "")
    yield from _unknown(record.data, page.known)


def _sections(record: Record, page: _Page) -> Iterator[str]:
    triplets = _triplets(record.data)
    for number, triplet in enumerate(triplets):
        at = QWST.size + number * TRIPLET.size
        raw = record.data[at : at + TRIPLET.size]
        page.known.append((at, at + TRIPLET.size))
        name = "QWHS" if number == 0 else getattr(record.block(number), "name", "not known")
        where = f"at {triplet['offset']:04X}, length {triplet['length']}, count {triplet['count']}"
        yield f"{at:04X}  {raw.hex().upper()}  triplet {number}: {name} {where}"
    for number, triplet in enumerate(triplets):
        for which in range(triplet["count"]):
            start = triplet["offset"] + which * triplet["length"]
            end = start + triplet["length"]
            if end > len(record.data) or end == start:
                yield ""
                yield f"{start:04X}  triplet {number}: block {which + 1} is not in the record"
                break
            block = record.block(number)
            if number == 0:
                yield from _area(record, page, start, end)
            elif block is not None:
                yield from _block(block, page, start, end, f" {which + 1}")


def _triplets(data: bytes) -> list[Any]:
    starts = range(QWST.size, QWST.size + triplet_count(data) * TRIPLET.size, TRIPLET.size)
    return [TRIPLET.parse(data[start : start + TRIPLET.size]) for start in starts]


def _area(record: Record, page: _Page, start: int, end: int) -> Iterator[str]:
    """Explain the QWHS area: QWHS, then QWHC and QWHX, if present."""
    data, release = record.data, QWST.field("sm115rel")
    parts = header_parts(
        np.array([int.from_bytes(data[start : start + 2])]),
        np.array([end - start]),
        np.frombuffer(data[release.offset : release.end], np.uint8)[None, :],
    )
    own, qwhx = start + int(parts.own[0]), start + int(parts.qwhx[0])
    yield from _block(QWHS, page, start, own, "")
    if parts.has_qwhc[0]:
        yield from _block(QWHC, page, own, own + QWHC.size, "")
    if parts.has_qwhx[0]:
        yield from _block(QWHX, page, qwhx, qwhx + QWHX.size, "")


def _block(block: Block, page: _Page, start: int, end: int, which: str) -> Iterator[str]:
    yield ""
    yield f"{block.name}{which}: {block.title} ({end - start} bytes at {start:04X})"
    values = block.parse(page.data[start:end])
    page.known.append((start, min(end, start + block.size)))
    for name, (offset, member) in block.members.items():
        if isinstance(member, Repeat):
            yield from _entries(block, name, member, values[name], page, (start, end), offset)
        elif isinstance(member, Array):
            field = block.field(name)
            for number, value in enumerate(values[name]):
                at = offset + number * field.kind.width
                yield from _field(field, f"{name}_{number + 1}", value, page, (start, end), at)
        else:
            yield from _field(block.field(name), name, values[name], page, (start, end), offset)


def _entries(
    block: Block,
    name: str,
    group: Repeat,
    entries: list[Any],
    page: _Page,
    span: _Span,
    offset: int,
) -> Iterator[str]:
    """Explain the entries of a repeated group, except entries in which all bytes are zero."""
    data = page.data[slice(*span)]
    width = group.subcon.sizeof()
    shown = 0
    for number, (cell, entry) in enumerate(zip(group.cells, entries, strict=True)):
        at = offset + number * width
        if not any(data[at : at + width]):
            continue
        shown += 1
        label = ", ".join(
            f"{index} {value}" for index, value in zip(group.index, cell, strict=True)
        )
        if isinstance(group.subcon, Struct):
            yield f"      {name}: {label}"
            for member in group.subcon.subcons:
                field = block.field(member.name)
                inner = at + field.offset - offset
                yield from _field(field, member.name, entry[member.name], page, span, inner)
        else:
            yield from _field(block.field(name), f"{name} {label}", entry, page, span, at)
    if shown < len(group.cells):
        yield f"      {name}: {len(group.cells) - shown} entries are all zero"


def _field(
    field: Field, name: str, value: Any, page: _Page, span: _Span, offset: int
) -> Iterator[str]:
    start, end = span
    raw = page.data[start:end][offset : offset + field.kind.width]
    if len(raw) < field.kind.width:
        return
    dots = "..." if len(raw) > _HEX_SHOWN else ""
    hexes = raw[:_HEX_SHOWN].hex().upper() + dots
    shown = _value(field, value, page.zone)
    yield f"{start + offset:04X}  {hexes:<35}  {name:<16}  {shown}".rstrip()


def _value(field: Field, value: Any, zone: Zone | None) -> str:
    kind = field.kind
    if isinstance(value, bytes):
        return "reserved"
    if value is None:
        return "-"
    if isinstance(value, str):
        return repr(value) if kind.fact == "ebcdic" else value
    if isinstance(value, dt.datetime):
        return _moment(value, zone)
    text = f"{value:,}" if isinstance(value, int | float) else str(value)
    if isinstance(kind, Code):
        text += f" {kind.word(value)}"
    if isinstance(kind, Flags):
        text += "".join(f" {bit.name}" for bit in kind.bits if value & bit.mask)
    return f"{text} {kind.unit}" if kind.unit else text


def _moment(value: dt.datetime, zone: Zone | None) -> str:
    """Return a time as text, with its zone; times that IBM documents as local stay local."""
    name = "local" if value.tzinfo is None else "UTC"
    if zone is not None and value.tzinfo is not None:
        microseconds = (value.replace(tzinfo=None) - UNIX_EPOCH) // dt.timedelta(microseconds=1)
        value, name = zone.local(microseconds), zone.name
    return f"{value:%Y-%m-%d %H:%M:%S.%f} {name}"


def _unknown(data: bytes, known: list[tuple[int, int]]) -> Iterator[str]:
    at = 0
    for start, end in [*sorted(known), (len(data), len(data))]:
        if start > at:
            yield ""
            yield f"{start - at} bytes without a field"
            yield from _hex(data[at:start], at)
        at = max(at, end)


def _hex(data: bytes, offset: int) -> Iterator[str]:
    for at in range(0, len(data), _ROW):
        row = data[at : at + _ROW]
        text = "".join(each if each.isprintable() else "." for each in row.decode(ENCODING))
        yield f"{offset + at:04X}  {row.hex(' ', 4).upper():<35}  {text}"


def missing(source: str, *, number: int | None, at: int | None, count: int) -> RequestError:
    """Return the error for a record that does not exist."""
    what = f"record {number}" if at is None else f"record at byte 0x{at:X}"
    return RequestError(f"{source}: no {what}; the file has {count} usable records")
