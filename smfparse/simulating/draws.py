"""Random columns, and blocks with overwritten columns.

The same seed must give the same bytes on every machine. The raw bits of PCG64 are the same in all
versions of numpy. IEEE 754 exactly defines the arithmetic that converts these bits to numbers.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence, Set
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from smfparse.layout.blocks import Block
from smfparse.layout.clocks import STCK_UNIX_EPOCH_US, Duration, Instant
from smfparse.layout.columns import Field, Part
from smfparse.layout.kinds import (
    ENCODING,
    Code,
    Combine,
    Flags,
    Header,
    Kind,
    Number,
    Numeric,
    Raw,
    Text,
    Values,
)

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]
Columns: TypeAlias = dict[str, Any]
"""Values by IBM's name of the field, one value per block."""

_NAMES = tuple(f"N{number:03}" for number in range(1, 41))

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""2**64 divided by the golden ratio; its multiples look random."""

NEVER = -STCK_UNIX_EPOCH_US
"""Time (microseconds since 1970) of the TOD clock value zero, which records contain for no time."""


class Draws:
    """A source of random columns; the same key gives the same columns."""

    def __init__(self, *key: int) -> None:
        self._bits = np.random.PCG64(list(key))

    def uniform(self, rows: int) -> Floats:
        """Return numbers from 0 (inclusive) to 1 (exclusive)."""
        bits: NDArray[np.uint64] = self._bits.random_raw(rows)
        return (bits >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def skewed(self, rows: int, median: float, most: float = 30) -> Floats:
        """Return numbers of a log-logistic distribution with a few large values.

        No number exceeds `most` times the median.
        """
        part = self.uniform(rows)
        return median * np.minimum(part / (1 - part), most)

    def below(self, rows: int, limit: int) -> Ints:
        """Return whole numbers from 0 to `limit` - 1."""
        return whole(self.uniform(rows) * limit)

    def near(self, rows: int, spread: float = 0.1) -> Floats:
        """Return factors from 1 - `spread` to 1 + `spread`."""
        return 1 - spread + 2 * spread * self.uniform(rows)

    def chance(self, rows: int, share: float) -> Bools:
        """Return a mask that is true for a random `share` of the rows."""
        return self.uniform(rows) < share

    def octets(self, rows: int, width: int) -> Raw:
        """Return rows of `width` random bytes."""
        bits: NDArray[np.uint64] = self._bits.random_raw(-(-rows * width // 8))
        raw: Raw = bits.astype("<u8", copy=False).view(np.uint8)
        return raw[: rows * width].reshape(rows, width)


def numbered(count: Ints) -> Ints:
    """Number the rows of each group from 0; `count`: number of rows per group, int64 (groups,)."""
    numbers: Ints = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    return numbers


def whole(values: Values) -> Ints:
    """Return values rounded down to whole numbers."""
    return np.floor(values).astype(np.int64)


def encoded(kind: Kind, words: Sequence[Any]) -> Raw:
    """Return the wire bytes of texts or hexadecimal strings, one row per text."""
    data = b"".join(kind.build(word) for word in words)
    return np.frombuffer(data, np.uint8).reshape(-1, kind.width)


def clock(moments: Ints) -> Raw:
    """Return moments as TOD clock values, one row per moment.

    The part below the microsecond looks random, and is the same for the same moment.
    """
    below = (moments.astype(np.uint64) * _GOLDEN >> np.uint64(52)).astype(np.int64)
    return big_endian((moments + STCK_UNIX_EPOCH_US << 12) + below, 8)


def big_endian(numbers: Ints, width: int) -> Raw:
    """Return the last `width` bytes of numbers in wire order, one row per number."""
    raw: Raw = numbers.astype(">u8").view(np.uint8).reshape(-1, 8)
    return raw[:, 8 - width :]


def hexadecimal(raw: Raw) -> Raw:
    """Return bytes as EBCDIC hexadecimal digits, two per byte."""
    digits = np.frombuffer("0123456789ABCDEF".encode(ENCODING), np.uint8)
    nibbles = np.stack([raw >> 4, raw & 15], axis=2).reshape(len(raw), 2 * raw.shape[1])
    spelled: Raw = digits[nibbles]
    return spelled


@functools.cache
def _built(block: Block, length: int, values: tuple[tuple[str, Any], ...]) -> bytes:
    data: bytes = block.build(dict(values), length=length)
    return data


class Rows:
    """Blocks of one kind, one row per block: one block is built and repeated, then columns are set.

    Setting a field that the blocks of this MQ version do not contain has no effect.
    """

    def __init__(
        self, block: Block, version: str, rows: int, values: Mapping[str, Any] | None = None
    ) -> None:
        self.block = block
        self.length = block.length_at(version)
        self.word = block.version_word_at(version)
        given = dict(values or {})
        if block.version is not None:
            given[block.version.name] = self.word
        built = _built(block, self.length, tuple(given.items()))
        self.raw: Raw = np.tile(np.frombuffer(built, np.uint8), (rows, 1))
        self._steps = {
            column.field.name: column.stride for child in block.children for column in child.columns
        }

    def __len__(self) -> int:
        return len(self.raw)

    def set(
        self, name: str, values: Values | float, entry: int = 0, *, where: Ints | None = None
    ) -> None:
        """Overwrite a field with numbers, durations or moments (microseconds since 1970).

        A number too large for the field becomes the largest number of the field.

        entry  index in a repeated group
        where  indexes of the blocks to change; None: all blocks
        """
        rows = len(self) if where is None else len(where)
        if not rows:
            return
        each = self.block.field(name)
        assert isinstance(each.kind, Numeric), name
        column = np.asarray(values)
        if column.ndim == 0:
            column = np.full(rows, column)
        if isinstance(each.kind, Number) and each.kind.width < column.itemsize:
            column = np.minimum(column, np.iinfo(each.kind.wire).max)
        self._put(each, entry, each.kind.encode(column), where)

    def set_all(self, columns: Columns) -> None:
        """Overwrite several fields, as by `set`."""
        for name, values in columns.items():
            self.set(name, values)

    def set_bytes(self, name: str, raw: Raw, entry: int = 0, *, where: Ints | None = None) -> None:
        """Overwrite a field with wire bytes, for example of texts and tokens."""
        self._put(self.block.field(name), entry, raw, where)

    def set_texts(
        self,
        name: str,
        words: Sequence[str],
        which: Ints | int,
        entry: int = 0,
        *,
        where: Ints | None = None,
    ) -> None:
        """Overwrite a field with texts or hexadecimal tokens: each block gets words[which]."""
        self.set_bytes(name, encoded(self.block.field(name).kind, words)[which], entry, where=where)

    def set_clocks(self, columns: Mapping[str, Ints]) -> None:
        """Overwrite fields with TOD clock values of moments, by `clock`; NEVER becomes zero."""
        for name, moments in columns.items():
            raw = clock(moments)
            raw[moments == NEVER] = 0
            self.set_bytes(name, raw)

    def get_bytes(self, name: str) -> Raw:
        """Return the wire bytes of a field, one row per block."""
        each = self.block.field(name)
        raw: Raw = self.raw[:, each.offset : each.offset + each.kind.width]
        return raw

    def _put(self, each: Field, entry: int, raw: Raw, where: Ints | None = None) -> None:
        at = each.offset + entry * self._steps.get(each.name, each.kind.width)
        if self.holds(each, at):
            self.raw[slice(None) if where is None else where, at : at + each.kind.width] = raw

    def holds(self, each: Field, offset: int) -> bool:
        """Whether the blocks contain a field, or an entry of its repeated group, at `offset`."""
        return self.block.holds(each, offset, self.length, self.word)


def fill(
    rows: Rows, nth: Ints, end: Ints, draws: Draws, words: Mapping[str, Sequence[str]]
) -> None:
    """Fill blocks with random values that fit the declaration of their fields.

    nth    index of each block in its record
    end    end of the interval of each block
    words  texts for fields with these names

    In a block, no minimum exceeds a gauge, and no gauge exceeds a maximum. Many counters are zero.
    Only the first entry of a repeated group or an array is filled.
    """
    base = draws.skewed(len(rows), 200)
    for each in rows.block.fields:
        kind = each.kind
        if isinstance(kind, Header | Flags):
            continue
        if isinstance(kind, Instant):
            rows.set(each.name, end - draws.below(len(rows), 60_000_000))
        elif isinstance(kind, Code):
            rows.set(each.name, _codes(kind, len(rows), draws))
        elif isinstance(kind, Number | Duration):
            rows.set(each.name, _amount(kind, base, nth, draws))
        elif isinstance(kind, Text):
            texts = words.get(each.name, _NAMES)
            rows.set_texts(each.name, texts, nth % len(texts))


def _codes(kind: Code, rows: int, draws: Draws) -> Ints:
    codes = np.array(sorted(kind.words), np.int64)
    return codes[draws.below(rows, len(codes))]


def _amount(kind: Number | Duration, base: Floats, nth: Ints, draws: Draws) -> Values:
    part = draws.uniform(len(base))
    counted = np.where(draws.chance(len(base), 0.4), draws.skewed(len(base), 300), 0)
    amounts: dict[Combine, Values] = {
        Combine.SUM: counted,
        Combine.MIN: base * part,
        Combine.LAST: base * (1 + part),
        Combine.MAX: base * (2 + part),
        Combine.NONE: nth,
    }
    amount = amounts[kind.combine]
    return whole(amount) if isinstance(kind, Number) else amount


def randomize(rows: Rows, draws: Draws, *, keep: Set[str] = frozenset(), share: float = 1) -> None:
    """Fill blocks with random bits: the worst case for the speed of readers and the size of output.

    Every number, time, flag word and opaque token in the blocks becomes random in full width.
    Headers, version words, texts, codes, reserved bytes and the fields in `keep` do not change.
    Repeated groups are filled in a random `share` of the blocks, and zero in the others.
    """
    block = rows.block
    own = _mask(rows, [(column.field, column.offset) for column in block.columns], keep)
    entries = [
        (column.field, column.offset + entry * column.stride)
        for child in block.children
        for column in child.columns
        for entry in range(len(child.cells))
    ]
    groups = _mask(rows, entries, keep)
    noise = draws.octets(len(rows), rows.length)
    noise[~draws.chance(len(rows), share)] &= ~groups
    rows.raw &= ~(own | groups)
    rows.raw |= noise & (own | groups)
    for each in block.fields:
        if isinstance(each.kind, Code):
            rows.set(each.name, _codes(each.kind, len(rows), draws))
    for child in block.children:
        if (
            child.used is not None
        ):  # an entry without a name is unused: every entry gets the name of the first entry
            name = rows.get_bytes(child.used).copy()
            for entry in range(len(child.cells)):
                rows.set_bytes(child.used, name, entry)


def _mask(rows: Rows, places: Sequence[tuple[Field, int]], keep: Set[str]) -> Raw:
    """Return a mask for a block: X'FF' for each byte of `places` that becomes random, or 0."""
    mask = np.zeros(rows.length, np.uint8)
    for each, at in places:
        fixed = isinstance(each.kind, Text | Code | Part) or each is rows.block.version
        if not fixed and each.name not in keep and rows.holds(each, at):
            mask[at : at + each.kind.width] = 0xFF
    return mask
