"""Column buffers: fields of many chunks, converted to Arrow arrays in one step.

Decoding takes time per Python object, not per byte. So the values of a column are gathered as
numbers, from many blocks in one step, and converted to an Arrow array once for many chunks. If a
block is too short or too old for a field, arbitrary bytes are gathered, which become NULL in the
array. Length and version word of each block are gathered to find such blocks.

Of repeated groups inside blocks, only the used entries are gathered. A slot is the place of a field
in a block, with the columns for the field.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from smfparse.decoding.arrow import array, coded, kind_array, shown_array
from smfparse.layout.blocks import Block
from smfparse.layout.clocks import Duration, Instant
from smfparse.layout.columns import Child, Column, Field
from smfparse.layout.kinds import BLANK, Mask, Numeric, Raw, Values
from smfparse.vectors import NUMBER_WIDTHS, Bools, Bytes, Ints, both, gather, not_zero, strings

BYTE = np.dtype("u1")


class FieldSlot(NamedTuple):
    """A field, or one place in an array of fields, and the columns for it.

    wire    numpy type of the field in a block; None: bytes
    native  numpy type in which the values are gathered
    """

    field: Field
    offset: int
    stride: int
    columns: tuple[Column, ...]
    wire: np.dtype[Any] | None
    native: np.dtype[Any]

    @classmethod
    def of(cls, field: Field, offset: int, stride: int, columns: Sequence[Column]) -> FieldSlot:
        """Return the slot of a field; the values are numbers if a numeric type has its width."""
        kind, wire, native = field.kind, None, BYTE
        if isinstance(kind, Numeric):
            if kind.wire.itemsize == kind.width:
                wire, native = kind.wire, kind.native
        elif kind.width in NUMBER_WIDTHS:
            wire = native = np.dtype(f"u{kind.width}")
        return cls(field, offset, stride, tuple(columns), wire, native)

    @property
    def end(self) -> int:
        """Offset of the first byte after the field."""
        return self.offset + self.field.kind.width

    def read(self, raw: Raw) -> Values:
        """Return the values of the field from its bytes, one row per block."""
        return raw if self.wire is None else raw.view(self.wire)[:, 0].astype(self.native)

    def arrays(self, gathered: Values, held: Mask) -> Iterator[tuple[str, Any]]:
        """Yield name and array of each column, from gathered values."""
        kind = self.field.kind
        if isinstance(kind, Numeric):
            if self.wire is None:
                gathered = gathered.view(kind.wire).astype(kind.native)
            values, present = kind.settle(gathered)
            valid = both(present, held)
            for column in self.columns:
                yield column.name, shown_array(column.shown, values, valid)
            return
        raw = gathered.view(BYTE).reshape(len(gathered), kind.width)
        for column in self.columns:
            yield column.name, kind_array(kind, raw, held)


def slots_of(columns: Sequence[Column]) -> list[FieldSlot]:
    """Return one slot for the columns of each field, or of each place in an array."""
    groups: dict[tuple[str, int], list[Column]] = {}
    for column in columns:
        groups.setdefault((column.field.name, column.offset), []).append(column)
    return [
        FieldSlot.of(each[0].field, each[0].offset, each[0].stride, each)
        for each in groups.values()
    ]


def joined(parts: list[Values]) -> Values:
    """Return the values of many chunks as one array."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


class Held:
    """Which blocks contain a field: `Block.holds`, for many blocks in one step."""

    def __init__(self, block: Block, length: Ints, version: Values) -> None:
        self.block = block
        self.length = length
        self.version = version
        self._least, self._most = (int(length.min()), int(length.max())) if length.size else (0, 0)
        self._oldest = int(version.min()) if version.size else 0

    def mask(self, field: Field, offset: Any, step: Any = 0) -> Mask:
        """Return which rows contain a field at `offset`; None: all rows.

        step  int64 (rows,): bytes from the first entry of a group to the entry of each row; or
              int64 (entries,): bytes to each entry, if lengths and version words have the shape
              (blocks, 1). The mask then has the shape (blocks, entries)
        """
        block, end = self.block, offset + step + field.kind.width
        gate = field.gate if block.version is not None else None
        furthest = end if isinstance(end, int) else int(end.max(initial=0))
        if self._everywhere(furthest, gate):
            return None
        length = self.length
        held: Bools = length == block.size if block.only_whole else length >= end
        if gate is not None and block.version is not None:
            held = held & ((self.version >= gate) | (length < block.version.end))
        return None if held.all() else held

    def _everywhere(self, end: int, gate: int | None) -> bool:
        """Whether the extreme lengths and versions show that all blocks are long and new enough."""
        size = self.block.size
        whole = not self.block.only_whole or self._least == self._most == size
        return whole and self._least >= end and (gate is None or self._oldest >= gate)


class EntryBuffer:
    """The wanted columns of the used entries of a repeated group, over many chunks."""

    def __init__(self, block: Block, child: Child, columns: Sequence[Column]) -> None:
        self.block = block
        self.child = child
        self.slots = slots_of(columns)
        self._values: list[list[Values]] = [[] for _ in self.slots]
        self._rows: list[tuple[Ints, Ints, Ints]] = []
        """For the rows of each chunk: index of the entry; length and version word of the block."""

    def add(self, buffer: Bytes, at: Ints, length: Ints) -> Ints:
        """Gather the used entries of blocks at positions `at`; return the block index of each."""
        which, entry, version = self._used(buffer, at, length)
        if self._rows and not len(which):
            return which
        self._rows.append((entry, length[which], version))
        for each, parts in zip(self.slots, self._values, strict=True):
            places = at[which] + each.offset + entry * each.stride
            parts.append(each.read(gather(buffer, places, each.field.kind.width)))
        return which

    def _used(self, buffer: Bytes, at: Ints, length: Ints) -> tuple[Ints, Ints, Ints]:
        """Return for each used entry the block index, the entry index, and the version word."""
        some = self._some(buffer, at)
        version = self._version(buffer, at[some])
        held = Held(self.block, length[some][:, None], version[:, None])
        steps = np.arange(len(self.child.cells))
        used = np.zeros((len(some), len(steps)), np.bool_)
        for column, numbers, least in self._numbers(buffer, at[some]) if len(some) else ():
            mask = held.mask(column.field, column.offset, steps * column.stride)
            shows = (numbers >= least) & _believed(column, numbers)
            used |= shows if mask is None else shows & mask
        block, entry = np.divmod(np.flatnonzero(used), len(steps))
        return some[block], entry, version[block]

    def _numbers(self, buffer: Bytes, at: Ints) -> Iterator[tuple[Column, Values, int]]:
        """Yield (column, values, minimum of a used entry) for each column that shows used entries.

        Values have the shape (blocks, entries). They are unsigned, in the byte order of the record:
        tests for zero do not depend on the byte order.
        """
        entries, raw = len(self.child.cells), np.zeros((0, 0), np.uint8)
        start, width = self.child.whole or (0, 0)
        if width:
            raw = gather(buffer, at + start, width)
        for column in self._showing():
            dtype, least = BYTE, BLANK[0] + 1
            if self.child.used is None:
                dtype, least = np.dtype(f"u{column.field.kind.width}"), 1
            if not self.child.whole:
                start, width = column.offset, column.stride * (entries - 1) + dtype.itemsize
                raw = gather(buffer, at + start, width)
            shape, strides = (len(at), entries), (width, column.stride)
            yield column, np.ndarray(shape, dtype, raw, column.offset - start, strides), least

    def _showing(self) -> Iterator[Column]:
        """Yield a column for each field that shows whether an entry is used."""
        seen = set()
        for column in self.child.columns:
            field = column.field
            shows = (
                isinstance(field.kind, Numeric)
                if self.child.used is None
                else field.name == self.child.used
            )
            if shows and field.name not in seen:
                seen.add(field.name)
                yield column

    def _some(self, buffer: Bytes, at: Ints) -> Ints:
        """Return the indexes of blocks in which a byte of the group is not zero: usually few."""
        some = np.zeros(len(at), np.bool_)
        for offset, width in self._runs():
            some |= not_zero(buffer, at + offset, width)
        return np.flatnonzero(some)

    def _runs(self) -> list[tuple[int, int]]:
        """Return offset and length of each run of bytes that shows used entries."""
        if self.child.whole is not None:
            return [self.child.whole]
        entries = len(self.child.cells)
        return [(column.offset, column.stride * entries) for column in self._showing()]

    def _version(self, buffer: Bytes, at: Ints) -> Ints:
        word = self.block.version
        if word is None or all(column.field.gate is None for column in self.child.columns):
            return np.zeros(len(at), np.int64)
        assert isinstance(word.kind, Numeric)
        return word.kind.values(gather(buffer, at + word.offset, word.kind.width))[0].astype("i8")

    def arrays(self) -> Iterator[tuple[str, Any]]:
        """Yield the index columns and the gathered columns, then clear the buffer."""
        entry, length, version = (joined(list(each)) for each in zip(*self._rows, strict=True))
        for position, name in enumerate(self.child.index):
            yield name, _labels([cell[position] for cell in self.child.cells], entry)
        held = Held(self.block, length, version)
        for each, parts in zip(self.slots, self._values, strict=True):
            values = joined(parts)
            yield from each.arrays(values, held.mask(each.field, each.offset, entry * each.stride))
        self._values = [[] for _ in self.slots]
        self._rows = []


def _believed(column: Column, numbers: Values) -> Any:
    """Return which numbers are possible values of a field; True: all."""
    kind = column.field.kind
    if not isinstance(kind, Duration | Instant):
        return True
    _, present = kind.settle(numbers.view(kind.wire).astype(kind.native))
    return True if present is None else present


def _labels(labels: Sequence[int | str], entry: Ints) -> Any:
    if isinstance(labels[0], str):
        return coded(entry.astype(np.int32), strings(map(str, labels)), None)
    return array("int32", np.array(labels, np.int32)[entry], None)


_LEAST_ROWS = 256
_PROBE = [np.empty(0)]
_UNSHARED = sys.getrefcount(_PROBE[0])
"""Result of `sys.getrefcount` for an array that only a list refers to."""


class Growing:
    """A numpy array that grows along its last axis; `take` returns all rows.

    A returned array is reused when nothing else refers to it. A new array is slow, because the
    system clears its pages first.
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
        """Return an array of at least `self.rows` rows: an unused earlier array, or a new array."""
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
