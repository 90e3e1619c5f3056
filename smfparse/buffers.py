"""Column buffers: fields gathered out of many chunks, then made Arrow arrays at once.

What costs in decoding is not the bytes but the objects made for them, so a column is gathered as
plain numbers, a slab of blocks at a time (a slab fits the processor's cache), and becomes an Arrow
array once for many chunks. What a block is too short or too old to hold is gathered as well, and
made NULL in the end: the length and version word of each block are kept for that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from smfparse.arrays import gather, kind_array, settled_arrays
from smfparse.fields import BLANK, Mask, Numeric, Values
from smfparse.framing import Bytes, Ints
from smfparse.layout import Block, Child, Column, Field
from smfparse.records import Bools

SLAB_BYTES = 1 << 18
_LEAST_ROWS = 256
_BYTE = np.dtype("u1")


class Growing:
    """A numpy array that grows at its end; what it holds is taken out as a whole."""

    def __init__(self, dtype: Any, shape: tuple[int, ...] = ()) -> None:
        self._dtype = np.dtype(dtype)
        self._shape = shape
        self._room = _LEAST_ROWS
        self._array: Values = np.empty((0, *shape), self._dtype)
        self.rows = 0

    def more(self, rows: int) -> Values:
        """Make room for `rows` more and return it, to be filled."""
        start, self.rows = self.rows, self.rows + rows
        if self.rows > len(self._array):
            self._room = max(self._room, self.rows * 2)
            grown = np.empty((self._room, *self._shape), self._dtype)
            grown[:start] = self._array[:start]
            self._array = grown
        return self._array[start : self.rows]

    def take(self) -> Values:
        """Return what is held and start anew."""
        taken = self._array[: self.rows]
        self._array = np.empty((0, *self._shape), self._dtype)
        self._room = max(_LEAST_ROWS, self.rows + self.rows // 8)
        self.rows = 0
        return taken


@dataclass
class _Gathered:
    """One field of the blocks of a table, or of the entries of a group in them."""

    columns: list[Column]
    field: Field
    offset: int
    stride: int
    wire: Any
    """The numpy type that reads the field out of a block."""
    numbers: Growing

    @classmethod
    def of(cls, columns: list[Column]) -> _Gathered:
        first = columns[0]
        kind = first.field.kind
        unit, native = (kind.wire, kind.native) if isinstance(kind, Numeric) else (_BYTE, _BYTE)
        size = kind.width // unit.itemsize
        wire = unit if isinstance(kind, Numeric) and size == 1 else np.dtype((unit, (size,)))
        numbers = Growing(native, wire.shape)
        return cls(columns, first.field, first.offset, first.stride, wire, numbers)

    def arrays(self, held: Mask) -> Iterator[tuple[str, Any]]:
        """Yield the columns made of the field."""
        kind, gathered = self.field.kind, self.numbers.take()
        if isinstance(kind, Numeric):
            parts = [column.part for column in self.columns]
            made = settled_arrays(kind, parts, gathered, held)
            yield from zip([column.name for column in self.columns], made, strict=True)
        else:
            for column in self.columns:
                yield column.name, kind_array(kind, gathered, held)


def _gathered(columns: Sequence[Column]) -> list[_Gathered]:
    """Group columns by the field, and place in an array, that they are made of."""
    groups: dict[tuple[str, int], list[Column]] = {}
    for column in columns:
        groups.setdefault((column.field.name, column.offset), []).append(column)
    return [_Gathered.of(group) for group in groups.values()]


class BlockBuffer:
    """The wanted columns of a block, over many chunks."""

    def __init__(self, block: Block, columns: Sequence[Column]) -> None:
        self.block = block
        self.fields = _gathered(columns)
        self.lengths = Growing("i4")
        self.versions = Growing("i8")
        self._gates = any(each.field.gate is not None for each in self.fields)
        spans = [(each.offset, each.offset + each.field.kind.width) for each in self.fields]
        if self._gates and block.version is not None:
            spans.append((block.version.offset, block.version.end))
        self._start = min((start for start, _ in spans), default=0)
        self._width = max((end for _, end in spans), default=0) - self._start
        self._struct = self._layout()

    def _layout(self) -> Any:
        names = [str(number) for number in range(len(self.fields))]
        formats = [each.wire for each in self.fields]
        offsets = [each.offset - self._start for each in self.fields]
        word = self.block.version
        if self._gates and word is not None:
            assert isinstance(word.kind, Numeric)
            names.append("version")
            formats.append(word.kind.wire)
            offsets.append(word.offset - self._start)
        return np.dtype(
            {"names": names, "formats": formats, "offsets": offsets, "itemsize": self._width or 1}
        )

    def add(self, buffer: Bytes, at: Ints, length: Ints) -> None:
        """Gather the fields of the blocks at positions `at`, which have these lengths."""
        rows = len(at)
        self.lengths.more(rows)[:] = length
        if not self.fields:
            return
        outs = [each.numbers.more(rows) for each in self.fields]
        versions = self.versions.more(rows) if self._gates else None
        step = max(SLAB_BYTES // self._width, 16)
        for first in range(0, rows, step):
            slab = gather(buffer, at[first : first + step] + self._start, self._width)
            records = slab.view(self._struct)[:, 0]
            last = first + len(records)
            for number, out in enumerate(outs):
                out[first:last] = records[str(number)]
            if versions is not None:
                versions[first:last] = records["version"]

    def arrays(self) -> Iterator[tuple[str, Any]]:
        """Yield the columns gathered so far, and start anew."""
        held = Held(self.block, self.lengths.take(), self.versions.take())
        for each in self.fields:
            yield from each.arrays(held.mask(each.field, each.offset))


class Held:
    """Which blocks hold a field: `Block.holds`, for many blocks at once."""

    def __init__(self, block: Block, length: Ints, version: Ints) -> None:
        self.block = block
        self.length = length
        self.version = version
        self._whole = bool(len(length)) and int(length.min()) >= block.size
        if block.only_whole:
            self._whole = self._whole and int(length.max()) == block.size
        self._new = bool(len(version)) and int(version.min()) >= _newest(block)

    def mask(self, field: Field, offset: Any, step: Any = 0) -> Mask:
        """Return where a field at `offset` is held; None: everywhere.

        step  bytes from the first entry of a group to that of each row; where lengths and version
              words are columns, to every entry: the mask has a row a block
        """
        gate = None if self._new else field.gate
        if self._whole and gate is None:
            return None
        end = offset + step + field.kind.width
        block, length = self.block, self.length
        held: Bools = length == block.size if block.only_whole else length >= end
        if gate is not None and block.version is not None:
            held = held & ((self.version >= gate) | (length < block.version.end))
        return None if held.all() else held


def _newest(block: Block) -> int:
    return max((each.gate for each in block.fields if each.gate is not None), default=0)


class EntryBuffer:
    """The wanted columns of the used entries of a repeated group, over many chunks."""

    def __init__(self, block: Block, child: Child, columns: Sequence[Column]) -> None:
        self.block = block
        self.child = child
        self.fields = _gathered(columns)
        self.entries = Growing("i4")
        self.lengths = Growing("i4")
        self.versions = Growing("i8")

    def add(self, buffer: Bytes, at: Ints, length: Ints) -> Ints:
        """Gather the used entries of the blocks at positions `at`; return the block of each."""
        which, entry, version = self._used(buffer, at, length)
        rows = len(which)
        self.entries.more(rows)[:] = entry
        self.lengths.more(rows)[:] = length[which]
        self.versions.more(rows)[:] = version
        for each in self.fields:
            places = at[which] + each.offset + entry * each.stride
            raw = gather(buffer, places, each.field.kind.width)
            out = each.numbers.more(rows)
            out[:] = raw.view(each.wire.base).reshape(out.shape)
        return which

    def _used(self, buffer: Bytes, at: Ints, length: Ints) -> tuple[Ints, Ints, Ints]:
        """Return block, entry and the block's version word of each used entry."""
        some = self._some(buffer, at)
        version = self._version(buffer, at[some])
        held = Held(self.block, length[some][:, None], version[:, None])
        steps = np.arange(len(self.child.cells))
        used = np.zeros((len(some), len(steps)), np.bool_)
        for column in self._telling():
            kind = column.field.kind
            dtype, least = f"u{kind.width}", 1
            if self.child.used is not None:
                dtype, least = "u1", BLANK[0] + 1
            span = column.stride * int(steps[-1]) + kind.width
            raw = gather(buffer, at[some] + column.offset, span)
            numbers = np.ndarray(used.shape, dtype, raw, strides=(span, column.stride))
            mask = held.mask(column.field, column.offset, steps * column.stride)
            used |= numbers >= least if mask is None else (numbers >= least) & mask
        block, entry = np.nonzero(used)
        return some[block], entry, version[block]

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
            step = max(SLAB_BYTES // width, 16)
            for first in range(0, len(at), step):
                raw = gather(buffer, at[first : first + step] + offset, width)
                words = raw.view("u8") if width % 8 == 0 else raw
                some[first : first + step] |= np.bitwise_or.reduce(words, axis=1) != 0
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
        entry = self.entries.take()
        for position, name in enumerate(self.child.index):
            labels = [cell[position] for cell in self.child.cells]
            kind = pa.string() if isinstance(labels[0], str) else pa.int32()
            yield name, pa.array(labels, kind).take(pa.array(entry))
        held = Held(self.block, self.lengths.take(), self.versions.take())
        for each in self.fields:
            yield from each.arrays(held.mask(each.field, each.offset, entry * each.stride))
