"""Column buffers: fields of many chunks, converted to Arrow arrays in one step.

Decoding takes time per Python object, not per byte. So the values of a column are gathered as
numbers, from many blocks in one step, and converted to an Arrow array once for many chunks. If a
block is too short or too old for a field, arbitrary bytes are gathered, and become NULL in the
array: for this, the length and version word of each block are gathered too.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from smfparse.decoding.entries import BYTE, FieldSlot, Held, joined, slots_of
from smfparse.layout.blocks import Block
from smfparse.layout.columns import Column
from smfparse.layout.kinds import Raw, Values
from smfparse.vectors import Bytes, Ints, gather

_LEAST_ROWS = 256
_PROBE = [np.empty(0)]
_UNSHARED = sys.getrefcount(_PROBE[0])
"""Result of `sys.getrefcount` for an array that only a list refers to."""


class Growing:
    """A numpy array that grows along its last axis; `take` returns all rows.

    A returned array is reused when nothing else refers to it, because the system clears the pages
    of a new array, which takes longer than to fill them.
    """

    def __init__(self, dtype: Any, *shape: int) -> None:
        self._dtype = np.dtype(dtype)
        self._shape = shape
        self._array = self._empty(0)
        self._taken: list[Values] = []
        self.rows = 0

    def more(self, rows: int) -> Values:
        """Return the part of the array for `rows` more rows, which the caller fills."""
        start, self.rows = self.rows, self.rows + rows
        if self.rows > self._array.shape[-1]:
            grown = self._room()
            grown[..., :start] = self._array[..., :start]
            self._array = grown
        return self._array[..., start : self.rows]

    def take(self) -> Values:
        """Return all rows, and start without rows again."""
        taken = self._array[..., : self.rows]
        if self._array.shape[-1]:
            self._taken.append(self._array)
            self._array = self._empty(0)
        self.rows = 0
        return taken

    def _room(self) -> Values:
        """Return an array with enough room: an unused earlier array, or a new array."""
        for number in range(len(self._taken)):
            if sys.getrefcount(self._taken[number]) == _UNSHARED:
                found = self._taken.pop(number)
                if found.shape[-1] >= self.rows:
                    return found
                break
        return self._empty(max(_LEAST_ROWS, self.rows * 2))

    def _empty(self, rows: int) -> Values:
        return np.empty((*self._shape, rows), self._dtype)


PIECE_BYTES = 1 << 20
"""Number of bytes of blocks that are split into fields in one step, in the processor's cache."""
_GAP = 256
"""Maximum bytes between two wanted fields that are copied together."""


@dataclass(frozen=True)
class _AdjacentFields:
    """Adjacent fields of one type in a block, extracted in one step.

    first   row of the first field in the array of the native type
    count   number of fields
    wire    type of the fields in the block
    offset  offset of the first field in the block
    """

    first: int
    count: int
    wire: np.dtype[Any]
    offset: int


class _Numbers:
    """The fields of a stretch that are gathered as numbers of one type: one row per field."""

    def __init__(self, native: np.dtype[Any], places: Sequence[FieldSlot]) -> None:
        self.slots = places
        self.gathered = Growing(native, len(places))
        self.runs: list[_AdjacentFields] = []
        for row, each in enumerate(places):
            assert each.wire is not None
            last = self.runs[-1] if self.runs else None
            if (
                last
                and last.wire == each.wire
                and last.offset + last.count * each.wire.itemsize == each.offset
            ):
                self.runs[-1] = replace(last, count=last.count + 1)
            else:
                self.runs.append(_AdjacentFields(row, 1, each.wire, each.offset))

    def add(self, raw: Raw, start: int) -> None:
        """Extract the fields; `raw`: bytes of blocks from offset `start` on, one row per block."""
        rows, width = raw.shape
        out = self.gathered.more(rows)
        for run in self.runs:
            out[run.first : run.first + run.count] = np.ndarray(
                (run.count, rows), run.wire, raw, run.offset - start, (run.wire.itemsize, width)
            )


class _Stretch:
    """Fields that are close together in a block, whose bytes are copied in one step."""

    def __init__(self, places: Sequence[FieldSlot]) -> None:
        self._start = places[0].offset
        self._width = max(each.end for each in places) - self._start
        types: dict[np.dtype[Any], list[FieldSlot]] = {}
        for each in places:
            if each.wire is not None:
                types.setdefault(each.native, []).append(each)
        self._numbers = [_Numbers(native, found) for native, found in types.items()]
        self._others = [each for each in places if each.wire is None]
        self._bytes: list[list[Raw]] = [[] for _ in self._others]
        self._most = max(PIECE_BYTES // self._width, 1)

    def add(self, buffer: Bytes, at: Ints) -> None:
        """Copy the stretch of the blocks at positions `at`, and extract its fields."""
        for first in range(0, len(at), self._most):
            some = at[first : first + self._most]
            raw = gather(buffer, some + self._start, self._width)
            for numbers in self._numbers:
                numbers.add(raw, self._start)
            for each, parts in zip(self._others, self._bytes, strict=True):
                parts.append(self._cut(raw, each))

    def _cut(self, raw: Raw, place: FieldSlot) -> Raw:
        """Return the bytes of a field, one row per block."""
        width = place.field.kind.width
        whole = np.ndarray(
            (len(raw),), f"V{width}", raw, place.offset - self._start, (self._width,)
        )
        return whole.copy().view(BYTE).reshape(-1, width)

    def take(self) -> Iterator[tuple[FieldSlot, Values]]:
        """Yield the values of each field, and start without values again."""
        for numbers in self._numbers:
            yield from zip(numbers.slots, numbers.gathered.take(), strict=True)
        for each, parts in zip(self._others, self._bytes, strict=True):
            yield each, joined(parts)
        self._bytes = [[] for _ in self._others]


def _stretches(places: Sequence[FieldSlot]) -> Iterator[_Stretch]:
    """Yield the fields of a block in stretches, divided at gaps of more than _GAP bytes."""
    found: list[FieldSlot] = []
    end = 0
    for each in sorted(places, key=lambda each: each.offset):
        if found and each.offset > end + _GAP:
            yield _Stretch(found)
            found = []
        found.append(each)
        end = max(end, each.end)
    if found:
        yield _Stretch(found)


_NO_WORDS = np.zeros(0, np.int64)


class BlockBuffer:
    """The wanted columns of a block, over many chunks."""

    def __init__(self, block: Block, columns: Sequence[Column]) -> None:
        self.block = block
        places = slots_of(columns)
        if block.version is not None and any(each.field.gate is not None for each in places):
            places.append(FieldSlot.of(block.version, block.version.offset, 0, ()))
        self._stretches = list(_stretches(places))
        self._lengths: list[Ints] = []

    def add(self, buffer: Bytes, at: Ints, length: Ints) -> None:
        """Gather the fields of the blocks at positions `at`; `length`: lengths of the blocks."""
        self._lengths.append(length)
        for each in self._stretches:
            each.add(buffer, at)

    def arrays(self) -> Iterator[tuple[str, Any]]:
        """Yield the gathered columns, then clear the buffer."""
        taken = [found for each in self._stretches for found in each.take()]
        words = [values for each, values in taken if not each.columns]
        held = Held(self.block, joined(self._lengths), words[0] if words else _NO_WORDS)
        self._lengths = []
        for each, values in taken:
            if each.columns:
                yield from each.arrays(values, held.mask(each.field, each.offset))
