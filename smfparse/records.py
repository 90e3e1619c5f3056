"""Logical records to blocks: the SMF header, the triplets, and for each block its place and owner.

Everything here works on all records of a chunk at once; nothing of a block is decoded yet.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smfparse.arrays import gather
from smfparse.errors import Damage, DamageLog
from smfparse.fields import Numeric, Raw, Values
from smfparse.framing import Chunk, Ints
from smfparse.layout import Block, Field
from smfparse.schemas import ACCOUNTING, QWST, REGISTRY, STATISTICS, TRIPLET

HEADER_END = QWST.size
MIN_BLOCK = 8
"""No block is shorter than its header: id, length, eye-catcher."""
_SUBTYPE_VALID = 0x40
_SUBTYPE_END = QWST.field("sm115stf").end
_NO_TRIPLET = np.iinfo(np.int64).max

Bools = NDArray[np.bool_]


MOST_TRIPLETS = 16
"""No record has more triplets (115/1 has 12)."""


@dataclass(frozen=True)
class Triplet:
    """One triplet of several records.

    rows                   int64 (records,): index of the record in the chunk
    offset, length, count  int64 (records,): where the blocks are in the record, and how many
    """

    rows: Ints
    offset: Ints
    length: Ints
    count: Ints


@dataclass(frozen=True)
class Blocks:
    """Blocks of one kind, in record order.

    owner   int64 (blocks,): index of the record in the chunk
    at      int64 (blocks,): position in the chunk's buffer
    length  int64 (blocks,): length the triplet gives
    number  int64 (blocks,): 1-based in its triplet
    """

    owner: Ints
    at: Ints
    length: Ints
    number: Ints

    def __len__(self) -> int:
        return len(self.owner)

    def where(self, keep: Bools | Ints) -> Blocks:
        """Return the blocks for which `keep` is true, or those with the indices `keep`."""
        return Blocks(self.owner[keep], self.at[keep], self.length[keep], self.number[keep])


def joined(parts: list[Blocks]) -> Blocks:
    """Put blocks of several kinds of record together, in record order."""
    if len(parts) == 1:
        return parts[0]
    columns = zip(*((each.owner, each.at, each.length, each.number) for each in parts), strict=True)
    owner, at, length, number = (np.concatenate(each) for each in columns)
    order = np.lexsort((number, owner))
    return Blocks(owner[order], at[order], length[order], number[order])


class Records:
    """The records of a chunk: headers now, blocks when asked for."""

    def __init__(self, chunk: Chunk, damage: DamageLog) -> None:
        self.chunk = chunk
        self.damage = damage
        self.type: Ints = self.header("sm115rty").astype(np.int64)
        self.is_mq: Bools = (self.type == STATISTICS) | (self.type == ACCOUNTING)
        flag = self.header("sm115flg")
        """False where the header says nothing of a subtype (SMF's own records)."""
        self.has_subtype: Bools = (self.is_mq | ((flag & _SUBTYPE_VALID) != 0)) & (
            chunk.length >= _SUBTYPE_END
        )
        subtype = self.header("sm115stf").astype(np.int64)
        self.subtype: Ints = np.where(self.has_subtype, subtype, -1)
        self._triplets: dict[tuple[int, int], list[Triplet]] = {}

    def __len__(self) -> int:
        return len(self.chunk.start)

    def header_raw(self, name: str) -> Raw:
        """Return the wire bytes of a field of the SMF header, a row a record."""
        each = QWST.field(name)
        return gather(self.chunk.buffer, self.chunk.start + each.offset, each.kind.width)

    def header(self, name: str) -> Values:
        """Return a number of the SMF header (in QWST's names), a value a record."""
        kind = QWST.field(name).kind
        assert isinstance(kind, Numeric)
        return kind.values(self.header_raw(name))[0]

    def read(self, at: Ints, each: Field) -> Raw:
        """Return the wire bytes of a field of blocks that start at positions `at`."""
        return gather(self.chunk.buffer, at + each.offset, each.kind.width)

    def of(self, record: tuple[int, int]) -> Ints:
        """Return the indices of the records of one (type, subtype)."""
        return np.flatnonzero((self.type == record[0]) & (self.subtype == record[1]))

    @cached_property
    def area(self) -> Blocks:
        """The QWHS area of each MQ record that has a sound one.

        Damage is noted for the records that the registry knows; of others nothing is expected.
        """
        (first,) = self._read_triplets(np.flatnonzero(self.is_mq), 1)
        found = self._blocks(replace(first, count=np.minimum(first.count, 1)), 0, None)
        missing = np.zeros(len(self), np.bool_)
        for record in REGISTRY:
            missing[self.of(record)] = True
        missing[found.owner] = False
        for index in np.flatnonzero(missing):
            length = int(self.chunk.length[index])
            self._note(int(index), length, "no QWHS area that can be read; times are not known")
        return found

    def blocks(self, record: tuple[int, int], number: int, block: Block) -> Blocks:
        """Return the sound blocks that triplet `number` of records of (type, subtype) points to.

        What points outside its record, or is not the block it should be, is noted as damage; but
        not of a block that is known to be garbage when it has another length than its own.
        """
        if block.kept_length is not None:
            found = self._blocks(self._triplet(record, number), number, None)
            return found.where(found.length == block.kept_length)
        found = self._blocks(self._triplet(record, number), number, block.name)
        if block.eyecatcher is None or not len(found):
            return found
        offset, expected = block.eyecatcher
        raw = gather(self.chunk.buffer, found.at + offset, len(expected))
        good = (raw == np.frombuffer(expected, np.uint8)).all(axis=1)
        for index in np.flatnonzero(~good):
            eye = raw[index].tobytes().hex().upper()
            reason = f"X'{eye}' where the eye-catcher {block.name} should be; skipped"
            self._note(int(found.owner[index]), int(found.length[index]), reason)
        return found.where(good)

    def section(self, record: tuple[int, int], number: int) -> Blocks:
        """Return what triplet `number` of records of (type, subtype) points to, unchecked."""
        return self._blocks(self._triplet(record, number), number, None)

    def _blocks(self, found: Triplet, number: int, name: str | None) -> Blocks:
        """Return what triplet `number` of records points to, as far as it is in the record.

        What is not is noted as damage under `name`; None: it is not.
        """
        rows, offset, length, count = found.rows, found.offset, found.length, found.count
        limit = self.chunk.length[rows]
        long_enough = length >= (1 if number == 0 else MIN_BLOCK)
        inside = (offset >= _least_offset(number)) & (offset < limit)
        fits = np.where(long_enough & inside, (limit - offset) // np.maximum(length, 1), 0)
        fits = np.clip(fits, 0, count)
        for index in np.flatnonzero(fits < count) if name else ():
            left = max(int(limit[index] - offset[index]), 0)
            if not inside[index]:
                reason = f"{name} cannot be at offset {offset[index]} of {limit[index]} bytes"
            elif not long_enough[index]:
                reason = f"{name} cannot be {length[index]} bytes long"
            else:
                wanted = count[index] * length[index]
                reason = f"{name} says {wanted} bytes at offset {offset[index]}, {left} are left"
            self._note(int(rows[index]), left, f"{reason}. The record may be cut; skipped")
        which = np.repeat(np.arange(rows.size), fits)
        nth = np.arange(which.size) - np.repeat(np.cumsum(fits) - fits, fits)
        owner = rows[which]
        at = self.chunk.start[owner] + offset[which] + nth * length[which]
        return Blocks(owner, at, length[which], nth + 1)

    def _triplet(self, record: tuple[int, int], number: int) -> Triplet:
        """Return triplet `number` of the records of (type, subtype)."""
        if record not in self._triplets:
            self._triplets[record] = self._read_triplets(self.of(record), MOST_TRIPLETS)
        return self._triplets[record][number]

    def _read_triplets(self, rows: Ints, most: int) -> list[Triplet]:
        """Return the first `most` triplets of records; count 0 where a record has fewer.

        The triplets end where the first thing they point to starts; an offset that cannot be is
        passed over. QWHSNSDA says the same but in 115/231 at MQ 8.0.0, where it leaves out the last
        triplet.
        """
        raw = gather(self.chunk.buffer, self.chunk.start[rows] + HEADER_END, most * TRIPLET.size)
        raw = raw.reshape(-1, TRIPLET.size)
        columns = []
        for each in TRIPLET.fields:
            assert isinstance(each.kind, Numeric)
            values, _ = each.kind.values(raw[:, each.offset : each.offset + each.kind.width])
            columns.append(values.astype(np.int64).reshape(-1, most))
        offset, length, count = columns
        least = _least_offset(np.arange(most))
        limit = np.full((rows.size, most), _NO_TRIPLET)
        limit[:, 0] = self.chunk.length[rows]
        limit[:, 1:] = np.where(offset >= least, offset, _NO_TRIPLET)[:, :-1]
        exists = np.minimum.accumulate(limit, axis=1) >= least
        count = np.where(exists, count, 0)
        return [Triplet(rows, *each) for each in zip(offset.T, length.T, count.T, strict=True)]

    def _note(self, index: int, length: int, reason: str) -> None:
        chunk = self.chunk
        self.damage.add(
            Damage(
                chunk.source,
                int(chunk.offset[index]),
                length,
                reason,
                int(chunk.record_no[index]),
                int(self.type[index]),
                int(self.subtype[index]),
            )
        )


def _least_offset(number: Any) -> Any:
    """Return the first byte that triplet `number` can point to: the one behind it."""
    return HEADER_END + (number + 1) * TRIPLET.size
