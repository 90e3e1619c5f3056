"""Where the fields of a block are that columns are made of, and which blocks hold them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from smfparse.decoding.arrays import kind_array, shown_array
from smfparse.layout import Block, Column, Field, Mask, Numeric, Raw, Values
from smfparse.vectors import NUMBER_WIDTHS, Bools, Ints, both

BYTE = np.dtype("u1")


class FieldSlot(NamedTuple):
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
    def of(cls, field: Field, offset: int, stride: int, columns: Sequence[Column]) -> FieldSlot:
        """Choose how to gather a field: as a number where its width is one's."""
        kind, wire, native = field.kind, None, BYTE
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
        """Read the field out of its bytes, one row per block."""
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
        raw = gathered.view(BYTE).reshape(len(gathered), kind.width)
        for column in self.columns:
            yield column.name, kind_array(kind, raw, held)


def slots_of(columns: Sequence[Column]) -> list[FieldSlot]:
    """Group columns by the field, and place in an array, that they are made of."""
    groups: dict[tuple[str, int], list[Column]] = {}
    for column in columns:
        groups.setdefault((column.field.name, column.offset), []).append(column)
    return [
        FieldSlot.of(each[0].field, each[0].offset, each[0].stride, each)
        for each in groups.values()
    ]


def joined(parts: list[Values]) -> Values:
    """Put values of many chunks together."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


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
              words are columns, to every entry: the mask has one row per block
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
        """Whether all blocks are long and new enough, as lengths that are the same show."""
        size = self.block.size
        whole = not self.block.only_whole or self._least == self._most == size
        return whole and self._least >= end and (gate is None or self._oldest >= gate)
