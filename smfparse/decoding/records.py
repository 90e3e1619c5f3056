"""From logical records to blocks: headers, triplets, and the record and place of each block.

All records of a chunk are processed in one step. Triplets contain the kind, place and number of
blocks. The contents of blocks are not decoded. The QWHS area of a record consists of QWHS and, in
some records, QWHC and QWHX: their places are returned too.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from smfparse.errors import Damage, DamageLog
from smfparse.layout.blocks import Block
from smfparse.layout.columns import Field
from smfparse.layout.kinds import Mask, Numeric, Raw, Values
from smfparse.reading.chunks import Chunk
from smfparse.reading.headers import MOST_TRIPLETS, Headers, existing_triplets, least_offset
from smfparse.schemas import (
    QWHC,
    QWHS,
    QWHS_SHORT,
    QWHS_SIZES,
    QWHS_STUB_BYTES,
    QWHX,
    QWHX_RELEASE,
    REGISTRY,
    WHOLE_RECORDS,
)
from smfparse.vectors import Bools, Bytes, Ints, gather

KNOWN_RECORDS = tuple(sorted(REGISTRY))
"""Type and subtype of the records in the registry. An index in it identifies a kind of record."""
_CODES = np.array([smf_type << 16 | subtype for smf_type, subtype in KNOWN_RECORDS])
_EYE = 4
"""Number of bytes of an eye-catcher."""


def number_of(smf_type: Ints, subtype: Ints) -> Ints:
    """Return the index of each record's kind in KNOWN_RECORDS; len(KNOWN_RECORDS): unknown kind."""
    code = smf_type << 16 | subtype
    place = np.searchsorted(_CODES, code)
    known = _CODES[np.minimum(place, len(_CODES) - 1)] == code
    return np.where(known, place, len(_CODES))


class BlockIndex:
    """A lookup table for requested blocks, by record and triplet; made once for many chunks.

    records   type and subtype of records with these blocks; subtype 0 for records that consist of
              one block
    whole     types of records that consist of one block, by name of the block
    triplets  number of triplets to read in a record
    table     uint8 (kinds of record + 1, triplets): number of the block; 0: none
    blocks    blocks by name, in the order of their numbers, from 1
    eye_at    by number of the block: offset of the eye-catcher
    eye       by number of the block: eye-catcher; 0: none
    kept      by number of the block: the only length that is used; 0: any length
    least     by number of the block: minimum length
    """

    def __init__(self, wanted: Iterable[Block]) -> None:
        names = {each.name for each in wanted}
        found = {
            (record, number): block
            for record, triplets in REGISTRY.items()
            for number, block in triplets.items()
            if block.name in names
        }
        self.whole = {
            block.name: smf_type for smf_type, block in WHOLE_RECORDS.items() if block.name in names
        }
        headed = {(smf_type, 0) for smf_type in self.whole.values()}
        self.records = headed | frozenset(record for record, _ in found)
        self.blocks = {block.name: block for block in found.values()}
        self.triplets = max((number for _, number in found), default=0) + 1
        self.table = np.zeros((len(KNOWN_RECORDS) + 1, self.triplets), np.uint8)
        numbers = {name: number for number, name in enumerate(self.blocks, 1)}
        for (record, number), block in found.items():
            self.table[KNOWN_RECORDS.index(record), number] = numbers[block.name]
        eyes = [each.eyecatcher or (0, bytes(_EYE)) for each in self.blocks.values()]
        self.eye_at = np.array([0, *(offset for offset, _ in eyes)])
        self.eye = np.frombuffer(b"".join([bytes(_EYE), *(eye for _, eye in eyes)]), np.uint32)
        self.kept = np.array([0, *(each.kept_length or 0 for each in self.blocks.values())])
        self.least = np.array([0, *(each.least for each in self.blocks.values())])

    def which(self, record: Ints, triplet: Ints) -> Bytes:
        """Return the number of the block that each triplet points to; 0: not requested.

        record   int64 (triplets,): index of the record's kind in KNOWN_RECORDS
        triplet  int64 (triplets,): index of the triplet in its record
        """
        found = np.zeros(record.size, np.uint8)
        inside = triplet < self.triplets
        found[inside] = self.table[record[inside], triplet[inside]]
        return found


EVERY_BLOCK = BlockIndex(block for triplets in REGISTRY.values() for block in triplets.values())
"""The lookup table for all blocks in the registry."""


_MIN_QWHS, _MIN_BLOCK = 4, 8
"""Minimum bytes of QWHS (its stub), and of any block (its header: id, length, eye-catcher)."""


@dataclass(frozen=True)
class Triplets:
    """Triplets that point to a block, in record order.

    row      int64 (triplets,): index of the record in the chunk
    number   int64 (triplets,): index of the triplet in its record
    offset   int64 (triplets,): offset of the first block in the record
    length   int64 (triplets,): bytes of a block
    count    int64 (triplets,): number of blocks
    fits     int64 (triplets,): number of blocks that are inside the record and long enough
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


def read_triplets(chunk: Chunk, rows: Ints, most: int, wanted: Bools) -> Triplets:
    """Return the wanted triplets, among the first `most` of each record, that point to a block.

    wanted  bool (rows, most): whether each triplet is wanted
    """
    raw, exists = existing_triplets(chunk.buffer, chunk.start[rows], chunk.length[rows], most)
    row, number = np.divmod(np.flatnonzero(wanted & exists & (raw["count"] > 0)), most)
    picked = raw[row, number]
    offset, length, count = (
        picked[name].astype(np.int64) for name in ("offset", "length", "count")
    )
    left = chunk.length[rows[row]] - offset
    sound = (offset >= least_offset(number)) & (left > 0)
    sound &= length >= np.where(number == 0, _MIN_QWHS, _MIN_BLOCK)
    fits = np.where(sound, np.minimum(left // np.maximum(length, 1), count), 0)
    return Triplets(rows[row], number, offset, length, count, fits)


def block_triplets(chunk: Chunk, kind: Ints) -> Triplets:
    """Return the triplets of all blocks in the registry.

    Blocks cannot overlap, so their total length cannot exceed the length of the record. In a
    damaged record, triplets are used up to the length of the record, first those that fit
    completely. So a record never has more rows than its bytes allow, whatever blocks are requested.

    kind  int64 (records,): index of each record's kind in KNOWN_RECORDS
    """
    rows = np.flatnonzero(kind < len(KNOWN_RECORDS))
    found = read_triplets(chunk, rows, EVERY_BLOCK.triplets, EVERY_BLOCK.table[kind[rows]] > 0)
    which = EVERY_BLOCK.which(kind[found.row], found.number)
    kept = EVERY_BLOCK.kept[which]
    is_block = (found.length >= EVERY_BLOCK.least[which]) & ((kept == 0) | (found.length == kept))
    fits = np.where(is_block, found.fits, 0)
    room = chunk.length[found.row]
    if (np.bincount(found.row, fits * found.length, len(kind))[found.row] > room).any():
        fits = _without_overlaps(dataclasses.replace(found, fits=fits), room)
    return dataclasses.replace(found, fits=fits)


def _without_overlaps(found: Triplets, room: Ints) -> Ints:
    """Return the number of possible blocks of each triplet, within the length of the record.

    Triplets whose blocks are all possible are used first.

    room  bytes of each triplet's record
    """
    fits, size = found.fits.copy(), found.fits * found.length
    order = np.lexsort((found.number, found.fits < found.count, found.row))
    end = np.cumsum(size[order])
    first = np.searchsorted(found.row, found.row)
    fits[order[end - (end - size[order])[first] > room]] = 0
    return fits


@dataclass(frozen=True)
class Blocks:
    """Blocks of one kind, in record order.

    owner   int64 (blocks,): index of the record in the chunk
    at      int64 (blocks,): position in the chunk's buffer
    length  int64 (blocks,): length in the triplet
    number  int64 (blocks,): number of the block in its triplet, from 1
    """

    owner: Ints
    at: Ints
    length: Ints
    number: Ints

    def __len__(self) -> int:
        return len(self.owner)

    def where(self, keep: Bools | Ints) -> Blocks:
        """Return the blocks for which `keep` is true, or the blocks with the indexes `keep`."""
        return Blocks(self.owner[keep], self.at[keep], self.length[keep], self.number[keep])


_NO_BLOCKS = Blocks(*(np.zeros(0, np.int64) for _ in range(4)))


class Records:
    """The records of a chunk: headers are read at the start, blocks on request."""

    def __init__(
        self,
        chunk: Chunk,
        damage: DamageLog,
        index: BlockIndex | None = None,
    ) -> None:
        self.chunk = chunk
        self.damage = damage
        self.index = index or BlockIndex([])
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
        """Index of each record's kind in KNOWN_RECORDS; len(KNOWN_RECORDS): unknown kind."""
        return number_of(self.type, self.subtype)

    def of(self, record: tuple[int, int]) -> Ints:
        """Return the indexes of the records of one (type, subtype)."""
        return np.flatnonzero(self.kind == KNOWN_RECORDS.index(record))

    def is_of(self, records: Iterable[tuple[int, int]]) -> Bools:
        """Return which records have a (type, subtype) in `records`."""
        among = np.zeros(len(KNOWN_RECORDS) + 1, np.bool_)
        among[[KNOWN_RECORDS.index(each) for each in records]] = True
        return among[self.kind]

    @cached_property
    def area(self) -> Blocks:
        """The QWHS areas of MQ records.

        A missing or impossible area is omitted, and noted as damage if the registry contains this
        kind of record.
        """
        rows = np.flatnonzero(self.is_mq)
        found = read_triplets(self.chunk, rows, 1, np.ones((len(rows), 1), np.bool_))
        good = found.fits > 0
        owner = found.row[good]
        missing = self.kind < len(KNOWN_RECORDS)
        missing[owner] = False
        for index in np.flatnonzero(missing):
            length = int(self.chunk.length[index])
            self._note(int(index), length, "no QWHS area that can be read; times are not known")
        at: Ints = self.chunk.start[owner] + found.offset[good]
        return Blocks(owner, at, found.length[good], np.ones_like(owner))

    def blocks(self, block: Block) -> Blocks:
        """Return the sound blocks of a kind, in record order; none if `block` is not in `index`.

        A triplet that points outside its record, or to other data, is noted as damage. A block with
        a length that is known to mean garbage (`Block.kept_length`) is omitted without a note.
        """
        if block.name in self.index.whole:
            rows = np.flatnonzero(self.type == self.index.whole[block.name])
            return _long_enough(self.chunk, rows, block, self._note)
        return self._found.get(block.name) or _NO_BLOCKS

    @cached_property
    def _found(self) -> dict[str, Blocks]:
        if not self.index.blocks:
            return {}
        found = block_triplets(self.chunk, self.kind)
        which = self.index.which(self.kind[found.row], found.number)
        if not which.all():
            found, which = found.where(which > 0), which[which > 0]
        self._note_lost(found, which)
        blocks, which = self._spread(found, which)
        good = self._sound(blocks, which)
        if not good.all():
            blocks, which = blocks.where(good), which[good]
        order = np.argsort(which, kind="stable")
        ends = np.searchsorted(which[order], np.arange(len(self.index.blocks) + 1), side="right")
        return {
            name: blocks.where(order[ends[number] : ends[number + 1]])
            for number, name in enumerate(self.index.blocks)
        }

    def _spread(self, found: Triplets, which: Values) -> tuple[Blocks, Values]:
        """Return the blocks that triplets point to, and the number of each block in `index`.

        which  number in `index` for each triplet
        """
        triplet = np.repeat(np.arange(found.row.size), found.fits)
        before: Ints = np.cumsum(found.fits) - found.fits
        nth = np.arange(triplet.size) - before[triplet]
        length, owner = found.length[triplet], found.row[triplet]
        at: Ints = self.chunk.start[owner] + found.offset[triplet] + nth * length
        return Blocks(owner, at, length, nth + 1), which[triplet]

    def _sound(self, blocks: Blocks, which: Values) -> Bools:
        """Return which blocks have the right eye-catcher; note the others as damage."""
        index = self.index
        words = np.ndarray((self.chunk.buffer.size - 3,), "u4", self.chunk.buffer, strides=(1,))
        eye, expected = words[blocks.at + index.eye_at[which]], index.eye[which]
        good: Bools = (eye == expected) | (expected == 0)
        names = list(index.blocks)
        for bad in np.flatnonzero(~good):
            name = names[which[bad] - 1]
            seen = eye[bad].tobytes().hex().upper()
            reason = f"X'{seen}' where the eye-catcher {name} should be; skipped"
            self._note(int(blocks.owner[bad]), int(blocks.length[bad]), reason)
        return good

    def _note_lost(self, found: Triplets, which: Values) -> None:
        """Note triplets that point to an impossible place as damage."""
        index = self.index
        lost = (found.fits < found.count) & (index.kept[which] == 0)
        found, names, least = found.where(lost), list(index.blocks), index.least[which[lost]]
        for at, block in enumerate(which[lost].tolist()):
            limit = int(self.chunk.length[found.row[at]])
            reason = _reason(names[block - 1], found, at, int(least[at]), limit)
            left = max(limit - int(found.offset[at]), 0)
            self._note(int(found.row[at]), left, f"{reason}. The record may be truncated; skipped")

    def sections(self) -> Triplets:
        """Return the unchecked triplets of records in the registry, except triplet 0 of each."""
        rows = np.flatnonzero(self.kind < len(KNOWN_RECORDS))
        wanted = np.ones((rows.size, MOST_TRIPLETS), np.bool_)
        wanted[:, 0] = False
        return read_triplets(self.chunk, rows, MOST_TRIPLETS, wanted)

    def _note(self, index: int, length: int, reason: str) -> None:
        chunk = self.chunk
        self.damage.add(
            Damage(
                chunk.source_of(index),
                int(chunk.offset[index]),
                length,
                reason,
                int(chunk.record_no[index]) if chunk.numbered else None,
                int(self.type[index]),
                int(self.subtype[index]) if self.headers.has_subtype[index] else None,
            )
        )


def _reason(name: str, found: Triplets, at: int, least: int, limit: int) -> str:
    """Return the reason why the place that a triplet points to is impossible.

    limit  length of the record
    """
    number, offset, length, count = (
        int(each[at]) for each in (found.number, found.offset, found.length, found.count)
    )
    left = max(limit - offset, 0)
    if not least_offset(number) <= offset < limit:
        return f"{name} cannot be at offset {offset} of {limit} bytes"
    if length < least:
        return _too_short(name, length, least)
    if count * length > left:
        return f"{name} has {count * length} bytes at offset {offset}, but only {left} are left"
    return f"{name} at offset {offset} overlaps other blocks of the record"


def _long_enough(
    chunk: Chunk, rows: Ints, block: Block, note: Callable[[int, int, str], None]
) -> Blocks:
    """Return the records that consist of one block; note too short records as damage."""
    length, least = chunk.length[rows], block.least
    for index, size in zip(rows.tolist(), length.tolist(), strict=True):
        if size < least:
            note(index, size, f"{_too_short(block.name, size, least)}; skipped")
    rows = rows[length >= least]
    return Blocks(rows, chunk.start[rows], chunk.length[rows], np.ones_like(rows))


def _too_short(name: str, length: int, least: int) -> str:
    return f"{name} cannot be {length} bytes long; the minimum is {least}"


class HeaderParts(NamedTuple):
    """The places of the parts of QWHS areas; int64 and bool (areas,).

    own       number of bytes of QWHS, which is also the offset of QWHC
    has_qwhc  whether the area contains QWHC
    qwhx      offset of QWHX in the area
    has_qwhx  whether the area contains QWHX, derived without the unreliable flag of QWHX
    """

    own: Values
    has_qwhc: Values
    qwhx: Values
    has_qwhx: Values


def header_parts(qwhslen: Values, length: Values, release: Raw) -> HeaderParts:
    """Return the places of QWHC and QWHX in QWHS areas.

    qwhslen  int64 (areas,): value of QWHSLEN
    length   int64 (areas,): bytes of the area
    release  uint8 (areas, 3): release in the SMF header
    """
    own = np.maximum(np.minimum(qwhslen, length), QWHS_STUB_BYTES)
    has_qwhc = (own == QWHS_SHORT) & (length >= QWHS_SIZES[QWHS_SHORT])
    qwhx = np.where(has_qwhc, QWHS_SIZES[QWHS_SHORT], own)
    places = np.array([1 << 16, 1 << 8, 1])
    late = release @ places >= np.frombuffer(QWHX_RELEASE, np.uint8) @ places
    return HeaderParts(own, has_qwhc, qwhx, late & (length >= qwhx + QWHX.size))


class HeaderAreas:
    """The QWHS areas of the records of a chunk."""

    def __init__(self, records: Records) -> None:
        self.records = records

    @cached_property
    def _parts(self) -> dict[str, Blocks]:
        """QWHS, QWHC and QWHX by name, for the records that contain them.

        `length` is the number of existing bytes, so fields that a shorter form lacks are NULL.
        """
        area = self.records.area
        raw = self.records.read(area.at, QWHS.field("qwhslen"))
        own = raw.view(">u2")[:, 0].astype(np.int64)
        release = self.records.headers.raw("sm115rel")[area.owner]
        parts = header_parts(own, area.length, release)
        rest = area.length - parts.qwhx
        return {
            QWHS.name: Blocks(area.owner, area.at, parts.own, area.number),
            QWHC.name: Blocks(
                area.owner, area.at + parts.own, area.length - parts.own, area.number
            ).where(parts.has_qwhc),
            QWHX.name: Blocks(area.owner, area.at + parts.qwhx, rest, area.number).where(
                parts.has_qwhx
            ),
        }

    def part(self, block: Block) -> Blocks:
        """Return the places of QWHS, QWHC or QWHX, for the records that contain `block`."""
        return self._parts[block.name]

    def placed(self, block: Block, owner: Ints) -> tuple[Ints, Ints]:
        """Return place and length of `block` in the records `owner`; length 0: no such block."""
        found, records = self.part(block), self.records
        at, length = records.chunk.start.copy(), np.zeros(len(records), np.int64)
        at[found.owner], length[found.owner] = found.at, found.length
        return at[owner], length[owner]

    def number(self, name: str) -> tuple[Ints, Bools]:
        """Return a numeric field of QWHS, one value per record, and which records contain it."""
        each = QWHS.field(name)
        assert isinstance(each.kind, Numeric)
        found = self.part(QWHS)
        found = found.where(found.length >= each.end)
        values, present = each.kind.values(self.records.read(found.at, each))
        return self._spread(found, values.astype(np.int64), present)

    def _spread(self, found: Blocks, values: Ints, present: Mask) -> tuple[Ints, Bools]:
        rows = len(self.records)
        spread, known = np.zeros(rows, np.int64), np.zeros(rows, np.bool_)
        spread[found.owner] = values
        known[found.owner] = True if present is None else present
        return spread, known

    def extension(self, name: str) -> tuple[Values, Bools]:
        """Return the bytes of a field of QWHX, one row per record, and which records contain it."""
        each = QWHX.field(name)
        found, rows = self.part(QWHX), len(self.records)
        raw, held = np.zeros((rows, each.kind.width), np.uint8), np.zeros(rows, np.bool_)
        raw[found.owner] = self.records.read(found.at, each)
        held[found.owner] = True
        return raw, held
