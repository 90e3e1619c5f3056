"""The triplets of records: the kind, place and number of the blocks that they point to."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from smfparse.layout.blocks import Block
from smfparse.reading.chunks import Chunk
from smfparse.reading.headers import existing_triplets, least_offset
from smfparse.schemas import REGISTRY, WHOLE_RECORDS
from smfparse.vectors import Bools, Bytes, Ints

KNOWN_RECORDS = tuple(sorted(REGISTRY))
"""Type and subtype of the records in the registry; the index is the number of the record's kind."""
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
    """A lookup table for blocks to search for, by record and triplet; made once for many chunks.

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
        """Return the number of the block that each triplet points to; 0: not searched for.

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
    fits     int64 (triplets,): number of possible blocks: inside the record, and not too short
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
    """Return the wanted triplets, of the first `most` of each record, that point to a block.

    wanted  bool (rows, most)
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

    Blocks cannot overlap, so their total length cannot exceed the length of the record. If it does
    in damaged records, triplets are used up to the length of the record; triplets that fit
    completely are used first. So a record never has more rows than its bytes allow, whatever blocks
    are requested.

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
