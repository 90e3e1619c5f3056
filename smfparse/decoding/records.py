"""Logical records to blocks: the SMF header, the triplets, and for each block its place and owner.

Everything here works on all records of a chunk at once; nothing of a block is decoded yet.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from smfparse.errors import Damage, DamageLog
from smfparse.layout import Block, Field, Raw, Values
from smfparse.reading.headers import (
    MOST_TRIPLETS,
    Headers,
    existing_triplets,
    least_offset,
)
from smfparse.reading.reader import Chunk
from smfparse.schemas import REGISTRY
from smfparse.vectors import Bools, Ints, gather

MIN_BLOCK = 8
"""No block, known or not, is shorter than its header: id, length, eye-catcher."""
_EYE = 4
"""Bytes of an eye-catcher."""
KINDS = tuple(sorted(REGISTRY))
_CODES = np.array([smf_type << 16 | subtype for smf_type, subtype in KINDS])

Place: TypeAlias = tuple[tuple[int, int], int]
"""A triplet by number, in records of one (type, subtype)."""


class Places:
    """Which blocks to look for, and where: a table to look up, made once for many chunks.

    triplets  how many triplets of a record have to be read
    table     uint8 (kinds of record + 1, triplets): number of the block, 0: none
    blocks    the blocks by number, from 1
    """

    def __init__(self, wanted: Iterable[Block]) -> None:
        names = {each.name for each in wanted}
        found = {
            (record, number): block
            for record, triplets in REGISTRY.items()
            for number, block in triplets.items()
            if block.name in names
        }
        self.records = frozenset(record for record, _ in found)
        self.blocks = {block.name: block for block in found.values()}
        self.triplets = max((number for _, number in found), default=0) + 1
        self.table = np.zeros((len(KINDS) + 1, self.triplets), np.uint8)
        numbers = {name: number for number, name in enumerate(self.blocks, 1)}
        for (record, number), block in found.items():
            self.table[KINDS.index(record), number] = numbers[block.name]
        eyes = [each.eyecatcher or (0, bytes(_EYE)) for each in self.blocks.values()]
        self.eye_at = np.array([0, *(offset for offset, _ in eyes)])
        self.eye = np.frombuffer(b"".join([bytes(_EYE), *(eye for _, eye in eyes)]), np.uint32)
        self.kept = np.array([0, *(each.kept_length or 0 for each in self.blocks.values())])
        self.least = np.array([0, *(each.least for each in self.blocks.values())])


_EVERY = Places(block for triplets in REGISTRY.values() for block in triplets.values())
"""Where every block that is known is."""


@dataclass(frozen=True)
class Triplets:
    """Triplets that point at something, in record order.

    row      int64 (triplets,): index of the record in the chunk
    number   int64 (triplets,): which triplet of its record
    offset   int64 (triplets,): byte of its blocks in the record
    length   int64 (triplets,): bytes of a block
    count    int64 (triplets,): blocks
    fits     int64 (triplets,): blocks of them that can be: wholly in the record, not too short
    """

    row: Ints
    number: Ints
    offset: Ints
    length: Ints
    count: Ints
    fits: Ints

    def where(self, keep: Bools) -> Triplets:
        """Return the triplets for which `keep` is true."""
        return Triplets(*(getattr(self, each.name)[keep] for each in dataclasses.fields(self)))


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


_NO_BLOCKS = Blocks(*(np.zeros(0, np.int64) for _ in range(4)))


class Records:
    """The records of a chunk: headers now, blocks when asked for."""

    def __init__(
        self,
        chunk: Chunk,
        damage: DamageLog,
        places: Places | None = None,
    ) -> None:
        self.chunk = chunk
        self.damage = damage
        self.places = places or Places([])
        self.headers = Headers(chunk.buffer, chunk.start, chunk.length)
        self.type = self.headers.type
        self.subtype = self.headers.subtype
        self.is_mq = self.headers.is_mq

    def __len__(self) -> int:
        return len(self.chunk.start)

    def read(self, at: Ints, each: Field) -> Raw:
        """Return the wire bytes of a field of blocks that start at positions `at`."""
        return gather(self.chunk.buffer, at + each.offset, each.kind.width)

    @cached_property
    def kind(self) -> Ints:
        """Number of each record's kind among those of the registry; one more: none of them."""
        code = self.type << 16 | self.subtype
        place = np.searchsorted(_CODES, code)
        known = _CODES[np.minimum(place, len(_CODES) - 1)] == code
        return np.where(known, place, len(_CODES))

    def of(self, record: tuple[int, int]) -> Ints:
        """Return the indices of the records of one (type, subtype)."""
        return np.flatnonzero(self.kind == KINDS.index(record))

    def is_of(self, records: Iterable[tuple[int, int]]) -> Bools:
        """Return which records are of one of these (type, subtype)."""
        among = np.zeros(len(KINDS) + 1, np.bool_)
        among[[KINDS.index(each) for each in records]] = True
        return among[self.kind]

    @cached_property
    def area(self) -> Blocks:
        """The QWHS area of each MQ record that has a sound one.

        Damage is noted for the records that the registry knows; of others nothing is expected.
        """
        rows = np.flatnonzero(self.is_mq)
        found = self._triplets(rows, 1, np.ones((len(rows), 1), np.bool_))
        good = found.fits > 0
        owner = found.row[good]
        missing = self.kind < len(KINDS)
        missing[owner] = False
        for index in np.flatnonzero(missing):
            length = int(self.chunk.length[index])
            self._note(int(index), length, "no QWHS area that can be read; times are not known")
        at: Ints = self.chunk.start[owner] + found.offset[good]
        return Blocks(owner, at, found.length[good], np.ones_like(owner))

    def blocks(self, block: Block) -> Blocks:
        """Return the sound blocks of a kind in record order; none if `places` does not look for it.

        What points outside its record, or is not the block it should be, is noted as damage; but
        not of a block that is known to be garbage when it has another length than its own.
        """
        return self._found.get(block.name) or _NO_BLOCKS

    @cached_property
    def _found(self) -> dict[str, Blocks]:
        """The blocks that `places` looks for, by name."""
        places = self.places
        if not places.blocks:
            return {}
        found = self._pointed()
        which = self._which(found, places)
        if not which.all():
            found, which = found.where(which > 0), which[which > 0]
        self._note_lost(found, which)
        triplet = np.repeat(np.arange(found.row.size), found.fits)
        before: Ints = np.cumsum(found.fits) - found.fits
        nth = np.arange(triplet.size) - before[triplet]
        which, length, owner = which[triplet], found.length[triplet], found.row[triplet]
        at: Ints = self.chunk.start[owner] + found.offset[triplet] + nth * length
        blocks = Blocks(owner, at, length, nth + 1)
        good = self._sound(blocks, which)
        if not good.all():
            blocks, which = blocks.where(good), which[good]
        order = np.argsort(which, kind="stable")
        ends = np.searchsorted(which[order], np.arange(len(places.blocks) + 1), side="right")
        return {
            name: blocks.where(order[ends[number] : ends[number + 1]])
            for number, name in enumerate(places.blocks)
        }

    def _which(self, found: Triplets, places: Places) -> Values:
        """Return the number of the block that each triplet points to; 0: not among `places`."""
        which: Values = np.zeros(found.row.size, np.uint8)
        inside = found.number < places.triplets
        which[inside] = places.table[self.kind[found.row[inside]], found.number[inside]]
        return which

    def _pointed(self) -> Triplets:
        """Return the triplets of every block that is known, looked for or not.

        Blocks cannot overlap, so together they are not longer than their record; of a record that
        says otherwise triplets are used up to where that is so, those that fit it first. So no
        record makes more rows than its bytes can hold, and which does not depend on what is
        looked for.
        """
        rows = np.flatnonzero(self.kind < len(KINDS))
        found = self._triplets(rows, _EVERY.triplets, _EVERY.table[self.kind[rows]] > 0)
        which = self._which(found, _EVERY)
        kept = _EVERY.kept[which]
        is_block = (found.length >= _EVERY.least[which]) & ((kept == 0) | (found.length == kept))
        fits = np.where(is_block, found.fits, 0)
        size = fits * found.length
        room = self.chunk.length[found.row]
        if (np.bincount(found.row, size, len(self))[found.row] > room).any():
            order = np.lexsort((found.number, fits < found.count, found.row))
            end = np.cumsum(size[order])
            first = np.searchsorted(found.row, found.row)
            fits[order[end - (end - size[order])[first] > room]] = 0
        return dataclasses.replace(found, fits=fits)

    def _sound(self, blocks: Blocks, which: Values) -> Bools:
        """Return which blocks have the eye-catcher that they must have."""
        places = self.places
        words = np.ndarray((self.chunk.buffer.size - 3,), "u4", self.chunk.buffer, strides=(1,))
        eye, expected = words[blocks.at + places.eye_at[which]], places.eye[which]
        good: Bools = (eye == expected) | (expected == 0)
        names = list(places.blocks)
        for index in np.flatnonzero(~good):
            name = names[which[index] - 1]
            seen = eye[index].tobytes().hex().upper()
            reason = f"X'{seen}' where the eye-catcher {name} should be; skipped"
            self._note(int(blocks.owner[index]), int(blocks.length[index]), reason)
        return good

    def _note_lost(self, found: Triplets, which: Values) -> None:
        """Note what triplets point to that cannot be there."""
        lost = (found.fits < found.count) & (self.places.kept[which] == 0)
        names, found, which = list(self.places.blocks), found.where(lost), which[lost]
        told = (found.row, found.number, found.offset, found.length, found.count, which)
        for row, number, offset, length, count, block in zip(
            *(each.tolist() for each in told), strict=True
        ):
            name, least = names[block - 1], int(self.places.least[block])
            limit = int(self.chunk.length[row])
            left = max(limit - offset, 0)
            if not least_offset(number) <= offset < limit:
                reason = f"{name} cannot be at offset {offset} of {limit} bytes"
            elif length < least:
                reason = f"{name} cannot be {length} bytes long, {least} is the least"
            elif count * length > left:
                reason = f"{name} says {count * length} bytes at offset {offset}, {left} are left"
            else:
                reason = f"{name} at offset {offset} overlaps other blocks of the record"
            self._note(row, left, f"{reason}. The record may be cut; skipped")

    def sections(self) -> Triplets:
        """Return every triplet but the first of the records that the registry knows, unchecked."""
        rows = np.flatnonzero(self.kind < len(KINDS))
        wanted = np.ones((rows.size, MOST_TRIPLETS), np.bool_)
        wanted[:, 0] = False
        return self._triplets(rows, MOST_TRIPLETS, wanted)

    def _triplets(self, rows: Ints, most: int, wanted: Bools) -> Triplets:
        """Return the wanted ones of the first `most` triplets of records that point at something.

        wanted  (rows, most)
        """
        chunk = self.chunk
        raw, exists = existing_triplets(chunk.buffer, chunk.start[rows], chunk.length[rows], most)
        row, number = np.divmod(np.flatnonzero(wanted & exists & (raw["count"] > 0)), most)
        picked = raw[row, number]
        offset, length, count = (
            picked[name].astype(np.int64) for name in ("offset", "length", "count")
        )
        left = self.chunk.length[rows[row]] - offset
        sound = (offset >= least_offset(number)) & (left > 0)
        sound &= length >= np.where(number == 0, 1, MIN_BLOCK)
        fits = np.where(sound, np.minimum(left // np.maximum(length, 1), count), 0)
        return Triplets(rows[row], number, offset, length, count, fits)

    def _note(self, index: int, length: int, reason: str) -> None:
        chunk = self.chunk
        self.damage.add(
            Damage(
                chunk.source,
                int(chunk.offset[index]),
                length,
                reason,
                int(chunk.record_no[index]) if chunk.numbered else None,
                int(self.type[index]),
                int(self.subtype[index]),
            )
        )
