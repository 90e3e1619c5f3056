"""The places of names in the records of a chunk, and the bytes of the records that are numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

import numpy as np
from construct import Array, Struct

from smfparse.decoding.areas import HeaderAreas
from smfparse.decoding.records import Blocks, Records
from smfparse.decoding.triplets import BlockIndex
from smfparse.errors import DamageLog
from smfparse.layout.blocks import Block
from smfparse.layout.columns import Field
from smfparse.layout.members import Repeat
from smfparse.reading.chunks import Chunk
from smfparse.reading.segments import RDW_SIZE
from smfparse.schemas import QWHC, QWHS, QWHX, QWST, REGISTRY
from smfparse.vectors import Bools, Ints

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
"""Fields of each kind of name; system and queue manager are in the SMF header as well."""
OF_HEADER = {SYSTEM: QWST.field("sm115sid"), QMGR: QWST.field("sm115SSI")}
"""Consecutive fields of names in the SMF header; only MQ records have a queue manager."""
BINARY = ("qcstslsn",)
"""Fields of names that are not text."""
AREA = (QWHS, QWHC, QWHX)
"""Blocks in the QWHS area of every MQ record."""
_KIND_OF = {field: kind for kind, fields in KINDS.items() for field in fields}
_OPEN = ("ebcdic", "bytes", "pad")
"""Kinds of fields that are not numbers, and can contain names at any position."""
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
    """Fields of one width with names of one kind; `at`: places in the buffer, int64 (fields,)."""

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
        """Return which bytes, by their places in the buffer, are numbers or eye-catchers."""
        found = self._in_headers(at)
        for block, places in self._found.values():
            _add_numbers(found, at, places, numbers(block))
        return found

    def owner(self, at: Ints) -> tuple[Ints, Ints]:
        """Return the index of the record of each byte, and the place of the byte in the record.

        The 4 bytes before a record belong to the previous record, because the record may have no
        descriptor word.
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
