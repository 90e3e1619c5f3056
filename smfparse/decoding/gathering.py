"""Column buffers: fields gathered out of many chunks, then made Arrow arrays at once.

What costs in decoding is not the bytes but the objects made for them, so a column is gathered as
plain numbers, out of many blocks at a time, and becomes an Arrow array once for many chunks. What
a block is too short or too old to hold is gathered as well, and made NULL in the end: the length
and version word of each block are kept for that.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from smfparse.decoding.arrays import array, coded, kind_array, shown_array
from smfparse.layout import BLANK, Block, Child, Column, Field, Mask, Numeric, Raw, Values
from smfparse.vectors import NUMBER_WIDTHS, Bools, Bytes, Ints, both, gather, not_zero

PIECE_BYTES = 1 << 20
"""Bytes of blocks that are taken apart at once: they stay in the processor's cache meanwhile."""
_LEAST_ROWS = 256
_GAP = 256
"""Bytes between two wanted fields that are not worth copying."""
_BYTE = np.dtype("u1")
_PROBE = [np.empty(0)]
_OURS = sys.getrefcount(_PROBE[0])
"""What `sys.getrefcount` says of an array that is in a list and nowhere else."""


class Growing:
    """A numpy array that grows along its last axis; what it holds is taken out as a whole.

    Memory that was taken out is used again once nobody refers to it: to ask the system for new
    pages, and to have them zeroed, costs more than to fill them.
    """

    def __init__(self, dtype: Any, *shape: int) -> None:
        self._dtype = np.dtype(dtype)
        self._shape = shape
        self._array = self._empty(0)
        self._taken: list[Values] = []
        self.rows = 0

    def more(self, rows: int) -> Values:
        """Make room for `rows` more and return it, to be filled."""
        start, self.rows = self.rows, self.rows + rows
        if self.rows > self._array.shape[-1]:
            grown = self._room()
            grown[..., :start] = self._array[..., :start]
            self._array = grown
        return self._array[..., start : self.rows]

    def take(self) -> Values:
        """Return what is held and start anew."""
        taken = self._array[..., : self.rows]
        if self._array.shape[-1]:
            self._taken.append(self._array)
            self._array = self._empty(0)
        self.rows = 0
        return taken

    def _room(self) -> Values:
        """Return an array for at least `rows`: one that nobody else refers to, or a new one."""
        for number in range(len(self._taken)):
            if sys.getrefcount(self._taken[number]) == _OURS:
                found = self._taken.pop(number)
                if found.shape[-1] >= self.rows:
                    return found
                break
        return self._empty(max(_LEAST_ROWS, self.rows * 2))

    def _empty(self, rows: int) -> Values:
        return np.empty((*self._shape, rows), self._dtype)


@dataclass(frozen=True)
class _Place:
    """A field, or one place in an array of them, and the columns that are made of it.

    wire    numpy type that reads the field out of a block; None: as bytes
    native  numpy type in which it is gathered
    """

    field: Field
    offset: int
    stride: int
    columns: tuple[Column, ...]
    wire: np.dtype[Any] | None
    native: np.dtype[Any]

    @classmethod
    def of(cls, field: Field, offset: int, stride: int, columns: Sequence[Column]) -> _Place:
        """Choose how to gather a field: as a number where its width is one's."""
        kind, wire, native = field.kind, None, _BYTE
        if isinstance(kind, Numeric):
            if kind.wire.itemsize == kind.width:
                wire, native = kind.wire, kind.native
        elif kind.width in NUMBER_WIDTHS:
            wire = native = np.dtype(f"u{kind.width}")
        return cls(field, offset, stride, tuple(columns), wire, native)

    @property
    def end(self) -> int:
        """Offset of the first byte behind the field."""
        return self.offset + self.field.kind.width

    def read(self, raw: Raw) -> Values:
        """Read the field out of its bytes, a row a block."""
        return raw if self.wire is None else raw.view(self.wire)[:, 0].astype(self.native)

    def arrays(self, gathered: Values, held: Mask) -> Iterator[tuple[str, Any]]:
        """Yield the columns made of what was gathered."""
        kind = self.field.kind
        if isinstance(kind, Numeric):
            if self.wire is None:
                gathered = gathered.view(kind.wire).astype(kind.native)
            values, present = kind.settle(gathered)
            valid = both(present, held)
            for column in self.columns:
                yield column.name, shown_array(column.shown, values, valid)
            return
        raw = gathered.view(_BYTE).reshape(len(gathered), kind.width)
        for column in self.columns:
            yield column.name, kind_array(kind, raw, held)


def _places(columns: Sequence[Column]) -> list[_Place]:
    """Group columns by the field, and place in an array, that they are made of."""
    groups: dict[tuple[str, int], list[Column]] = {}
    for column in columns:
        groups.setdefault((column.field.name, column.offset), []).append(column)
    return [
        _Place.of(each[0].field, each[0].offset, each[0].stride, each) for each in groups.values()
    ]


@dataclass(frozen=True)
class _Run:
    """Fields of one type that follow each other in a block, taken out together.

    first   row of the first of them among the numbers of their native type
    offset  of the first of them in the block
    """

    first: int
    count: int
    wire: np.dtype[Any]
    offset: int


class _Numbers:
    """Fields of a stretch that are gathered as numbers of one type: a row a field."""

    def __init__(self, native: np.dtype[Any], places: Sequence[_Place]) -> None:
        self.places = places
        self.gathered = Growing(native, len(places))
        self.runs: list[_Run] = []
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
                self.runs.append(_Run(row, 1, each.wire, each.offset))

    def add(self, raw: Raw, start: int) -> None:
        """Take the fields out of blocks; `raw` has their bytes from `start` on, a row a block."""
        rows, width = raw.shape
        out = self.gathered.more(rows)
        for run in self.runs:
            out[run.first : run.first + run.count] = np.ndarray(
                (run.count, rows), run.wire, raw, run.offset - start, (run.wire.itemsize, width)
            )


class _Stretch:
    """Fields that lie close together in a block; their bytes are copied out of it as one."""

    def __init__(self, places: Sequence[_Place]) -> None:
        self._start = places[0].offset
        self._width = max(each.end for each in places) - self._start
        types: dict[np.dtype[Any], list[_Place]] = {}
        for each in places:
            if each.wire is not None:
                types.setdefault(each.native, []).append(each)
        self._numbers = [_Numbers(native, found) for native, found in types.items()]
        self._others = [each for each in places if each.wire is None]
        self._bytes: list[list[Raw]] = [[] for _ in self._others]
        self._most = max(PIECE_BYTES // self._width, 1)

    def add(self, buffer: Bytes, at: Ints) -> None:
        """Copy the stretch out of the blocks at positions `at`, and take the fields out of it."""
        for first in range(0, len(at), self._most):
            some = at[first : first + self._most]
            raw = gather(buffer, some + self._start, self._width)
            for numbers in self._numbers:
                numbers.add(raw, self._start)
            for each, parts in zip(self._others, self._bytes, strict=True):
                parts.append(self._cut(raw, each))

    def _cut(self, raw: Raw, place: _Place) -> Raw:
        """Return the bytes of a field, a row a block."""
        width = place.field.kind.width
        whole = np.ndarray(
            (len(raw),), f"V{width}", raw, place.offset - self._start, (self._width,)
        )
        return whole.copy().view(_BYTE).reshape(-1, width)

    def take(self) -> Iterator[tuple[_Place, Values]]:
        """Yield what was gathered of each field, and start anew."""
        for numbers in self._numbers:
            yield from zip(numbers.places, numbers.gathered.take(), strict=True)
        for each, parts in zip(self._others, self._bytes, strict=True):
            yield each, _joined(parts)
        self._bytes = [[] for _ in self._others]


def _stretches(places: Sequence[_Place]) -> Iterator[_Stretch]:
    """Cut the fields of a block where nothing is wanted of many bytes."""
    found: list[_Place] = []
    end = 0
    for each in sorted(places, key=lambda each: each.offset):
        if found and each.offset > end + _GAP:
            yield _Stretch(found)
            found = []
        found.append(each)
        end = max(end, each.end)
    if found:
        yield _Stretch(found)


class BlockBuffer:
    """The wanted columns of a block, over many chunks."""

    def __init__(self, block: Block, columns: Sequence[Column]) -> None:
        self.block = block
        places = _places(columns)
        if block.version is not None and any(each.field.gate is not None for each in places):
            places.append(_Place.of(block.version, block.version.offset, 0, ()))
        self._stretches = list(_stretches(places))
        self._lengths: list[Ints] = []

    def add(self, buffer: Bytes, at: Ints, length: Ints) -> None:
        """Gather the fields of the blocks at positions `at`, which have these lengths."""
        self._lengths.append(length)
        for each in self._stretches:
            each.add(buffer, at)

    def arrays(self) -> Iterator[tuple[str, Any]]:
        """Yield the columns gathered so far, and start anew."""
        taken = [found for each in self._stretches for found in each.take()]
        words = [values for each, values in taken if not each.columns]
        held = Held(self.block, _joined(self._lengths), words[0] if words else _NO_WORDS)
        self._lengths = []
        for each, values in taken:
            if each.columns:
                yield from each.arrays(values, held.mask(each.field, each.offset))


def _joined(parts: list[Values]) -> Values:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


_NO_WORDS = np.zeros(0, np.int64)


class Held:
    """Which blocks hold a field: `Block.holds`, for many blocks at once."""

    def __init__(self, block: Block, length: Ints, version: Values) -> None:
        self.block = block
        self.length = length
        self.version = version
        self._least, self._most = (int(length.min()), int(length.max())) if length.size else (0, 0)
        self._oldest = int(version.min()) if version.size else 0

    def mask(self, field: Field, offset: Any, step: Any = 0) -> Mask:
        """Return where a field at `offset` is held; None: everywhere.

        step  bytes from the first entry of a group to that of each row; where lengths and version
              words are columns, to every entry: the mask has a row a block
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
        """Whether all blocks are long and new enough, which lengths that are the same tell."""
        size = self.block.size
        whole = not self.block.only_whole or self._least == self._most == size
        return whole and self._least >= end and (gate is None or self._oldest >= gate)


class EntryBuffer:
    """The wanted columns of the used entries of a repeated group, over many chunks."""

    def __init__(self, block: Block, child: Child, columns: Sequence[Column]) -> None:
        self.block = block
        self.child = child
        self.places = _places(columns)
        self._values: list[list[Values]] = [[] for _ in self.places]
        self._rows: list[tuple[Ints, Ints, Ints]] = []
        """Entry, length and version word of the block, of each chunk's rows."""

    def add(self, buffer: Bytes, at: Ints, length: Ints) -> Ints:
        """Gather the used entries of the blocks at positions `at`; return the block of each."""
        which, entry, version = self._used(buffer, at, length)
        if self._rows and not len(which):
            return which
        self._rows.append((entry, length[which], version))
        for each, parts in zip(self.places, self._values, strict=True):
            places = at[which] + each.offset + entry * each.stride
            parts.append(each.read(gather(buffer, places, each.field.kind.width)))
        return which

    def _used(self, buffer: Bytes, at: Ints, length: Ints) -> tuple[Ints, Ints, Ints]:
        """Return block, entry and the block's version word of each used entry."""
        some = self._some(buffer, at)
        version = self._version(buffer, at[some])
        held = Held(self.block, length[some][:, None], version[:, None])
        steps = np.arange(len(self.child.cells))
        used = np.zeros((len(some), len(steps)), np.bool_)
        for column, numbers, least in self._numbers(buffer, at[some]) if len(some) else ():
            mask = held.mask(column.field, column.offset, steps * column.stride)
            used |= numbers >= least if mask is None else (numbers >= least) & mask
        block, entry = np.divmod(np.flatnonzero(used), len(steps))
        return some[block], entry, version[block]

    def _numbers(self, buffer: Bytes, at: Ints) -> Iterator[tuple[Column, Values, int]]:
        """Yield what tells whether entries are used: numbers, and the least one that does.

        A row a block, a column an entry; the bytes as they stand, which is enough to compare.
        """
        entries, raw = len(self.child.cells), np.zeros((0, 0), np.uint8)
        start, width = self.child.whole or (0, 0)
        if width:
            raw = gather(buffer, at + start, width)
        for column in self._telling():
            dtype, least = _BYTE, BLANK[0] + 1
            if self.child.used is None:
                dtype, least = np.dtype(f"u{column.field.kind.width}"), 1
            if not self.child.whole:
                start, width = column.offset, column.stride * (entries - 1) + dtype.itemsize
                raw = gather(buffer, at + start, width)
            shape, strides = (len(at), entries), (width, column.stride)
            yield column, np.ndarray(shape, dtype, raw, column.offset - start, strides), least

    def _telling(self) -> Iterator[Column]:
        """Yield a column for each field that tells whether an entry is used."""
        seen = set()
        for column in self.child.columns:
            field = column.field
            tells = (
                isinstance(field.kind, Numeric)
                if self.child.used is None
                else field.name == self.child.used
            )
            if tells and field.name not in seen:
                seen.add(field.name)
                yield column

    def _some(self, buffer: Bytes, at: Ints) -> Ints:
        """Return the blocks in which a byte of the group is not zero: few, in most data."""
        some = np.zeros(len(at), np.bool_)
        for offset, width in self._runs():
            some |= not_zero(buffer, at + offset, width)
        return np.flatnonzero(some)

    def _runs(self) -> list[tuple[int, int]]:
        """Return offset and length of the bytes in which the group is."""
        if self.child.whole is not None:
            return [self.child.whole]
        entries = len(self.child.cells)
        return [(column.offset, column.stride * entries) for column in self._telling()]

    def _version(self, buffer: Bytes, at: Ints) -> Ints:
        word = self.block.version
        if word is None or all(column.field.gate is None for column in self.child.columns):
            return np.zeros(len(at), np.int64)
        assert isinstance(word.kind, Numeric)
        return word.kind.values(gather(buffer, at + word.offset, word.kind.width))[0].astype("i8")

    def arrays(self) -> Iterator[tuple[str, Any]]:
        """Yield the index columns and the columns gathered so far, and start anew."""
        entry, length, version = (_joined(list(each)) for each in zip(*self._rows, strict=True))
        for position, name in enumerate(self.child.index):
            yield name, _labels([cell[position] for cell in self.child.cells], entry)
        held = Held(self.block, length, version)
        for each, parts in zip(self.places, self._values, strict=True):
            values = _joined(parts)
            yield from each.arrays(values, held.mask(each.field, each.offset, entry * each.stride))
        self._values = [[] for _ in self.places]
        self._rows = []


def _labels(labels: Sequence[int | str], entry: Ints) -> Any:
    """Return an index column: the label of each row's entry."""
    if isinstance(labels[0], str):
        return coded(entry.astype(np.int32), pa.array(labels, pa.string()), None)
    return array("int32", np.array(labels, np.int32)[entry], None)
