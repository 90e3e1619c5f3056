"""The registry as arrays: the block of each triplet of each record."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from smfparse.layout.blocks import Block
from smfparse.schemas import REGISTRY, WHOLE_RECORDS
from smfparse.vectors import Bytes, Ints

KNOWN_RECORDS = tuple(sorted(REGISTRY))
"""Type and subtype of the records that the registry has, by number."""
_CODES = np.array([smf_type << 16 | subtype for smf_type, subtype in KNOWN_RECORDS])
_EYE = 4
"""Bytes of an eye-catcher."""


def number_of(smf_type: Ints, subtype: Ints) -> Ints:
    """Return the number of each record's kind in KNOWN_RECORDS; one more: none of them."""
    code = smf_type << 16 | subtype
    place = np.searchsorted(_CODES, code)
    known = _CODES[np.minimum(place, len(_CODES) - 1)] == code
    return np.where(known, place, len(_CODES))


class BlockIndex:
    """Which blocks to look for, and where: a table to look up, made once for many chunks.

    records   type and subtype of the records that have them; 0 for those that are a whole block
    whole     the types of these, by name of the block
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
        """Return the number of the block that triplets point to; 0: not among these.

        record   int64 (triplets,): number of the record's kind in KNOWN_RECORDS
        triplet  int64 (triplets,): which of its record
        """
        found = np.zeros(record.size, np.uint8)
        inside = triplet < self.triplets
        found[inside] = self.table[record[inside], triplet[inside]]
        return found


EVERY_BLOCK = BlockIndex(block for triplets in REGISTRY.values() for block in triplets.values())
"""Where every block that is known is."""
