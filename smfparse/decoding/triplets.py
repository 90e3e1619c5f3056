"""The triplets of records: their targets, and the usable bytes of each."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from smfparse.decoding.index import EVERY_BLOCK, KNOWN_RECORDS
from smfparse.reading.chunks import Chunk
from smfparse.reading.headers import existing_triplets, least_offset
from smfparse.vectors import Bools, Ints

_MIN_BLOCK = 8
"""No block, known or not, is shorter than its header: id, length, eye-catcher."""


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


def read_triplets(chunk: Chunk, rows: Ints, most: int, wanted: Bools) -> Triplets:
    """Return the wanted ones of the first `most` triplets of records that point at something.

    wanted  (rows, most)
    """
    raw, exists = existing_triplets(chunk.buffer, chunk.start[rows], chunk.length[rows], most)
    row, number = np.divmod(np.flatnonzero(wanted & exists & (raw["count"] > 0)), most)
    picked = raw[row, number]
    offset, length, count = (
        picked[name].astype(np.int64) for name in ("offset", "length", "count")
    )
    left = chunk.length[rows[row]] - offset
    sound = (offset >= least_offset(number)) & (left > 0)
    sound &= length >= np.where(number == 0, 1, _MIN_BLOCK)
    fits = np.where(sound, np.minimum(left // np.maximum(length, 1), count), 0)
    return Triplets(rows[row], number, offset, length, count, fits)


def block_triplets(chunk: Chunk, kind: Ints) -> Triplets:
    """Return the triplets of every block that is known, looked for or not.

    Blocks cannot overlap, so together they are not longer than their record; of a record in
    which they would be, triplets are used up to there, those that fit it first. So no record makes
    more rows than its bytes can hold, and which does not depend on what is looked for.

    kind  int64 (records,): number of each record's kind in KNOWN_RECORDS
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
    """Return how many blocks of each triplet can be, so that no record has more than its room.

    Triplets of which every block can be come first.

    room  bytes of each triplet's record
    """
    fits, size = found.fits.copy(), found.fits * found.length
    order = np.lexsort((found.number, found.fits < found.count, found.row))
    end = np.cumsum(size[order])
    first = np.searchsorted(found.row, found.row)
    fits[order[end - (end - size[order])[first] > room]] = 0
    return fits
