"""The places of names in the records of a chunk, and which of its bytes are numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from smfparse.anonymising.fields import (
    AREA,
    BINARY,
    OF_HEADER,
    QMGR,
    SYSTEM,
    blocks,
    clocks,
    named_fields,
    numbers,
)
from smfparse.decoding.areas import HeaderAreas
from smfparse.decoding.index import BlockIndex
from smfparse.decoding.records import Blocks, Records
from smfparse.errors import DamageLog
from smfparse.reading.chunks import Chunk
from smfparse.reading.segments import RDW_SIZE
from smfparse.schemas import QWST
from smfparse.vectors import Bools, Ints

_INDEX = BlockIndex(block for block in blocks().values() if block not in AREA)


class Places(NamedTuple):
    """Fields of one width with names of one kind; at: int64 (fields,), places in the buffer."""

    kind: str
    at: Ints
    width: int
    is_text: bool = True


class Named:
    """The names, clocks and numbers in the records of a chunk.

    damage  receives the blocks that cannot be used; None: they are not recorded
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
        """Return the record of each byte, and the place of the byte in it.

        If no descriptor word precedes a record, the bytes there may be the end of another record.
        """
        start = self.chunk.start
        owner = np.maximum(np.searchsorted(start + RDW_SIZE, at, side="right") - 1, 0)
        return owner, at - start[owner]

    def _in_headers(self, at: Ints) -> Bools:
        """Return which bytes belong to SMF headers and not to names."""
        owner, within = self.owner(at)
        names = (within >= OF_HEADER[SYSTEM].offset) & (within < OF_HEADER[QMGR].end)
        size = np.where(self._is_mq[owner], QWST.size, OF_HEADER[SYSTEM].offset)
        found: Bools = (within >= RDW_SIZE) & (within < size) & ~names
        return found


def _add_numbers(found: Bools, at: Ints, places: Blocks, template: Bools) -> None:
    """Mark the bytes that are numbers in blocks of one kind; `places` ascend."""
    if not len(places):
        return
    which = np.maximum(np.searchsorted(places.at, at, side="right") - 1, 0)
    within = at - places.at[which]
    inside = (within >= 0) & (within < np.minimum(places.length[which], template.size))
    found[inside] |= template[within[inside]]
