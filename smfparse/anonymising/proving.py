"""Verification that a copy has the same numbers as the original, and no name of the original."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from smfparse.anonymising.copying import Replaced
from smfparse.anonymising.places import Named
from smfparse.anonymising.pseudonyms import Pseudonyms
from smfparse.anonymising.searching import Finder
from smfparse.anonymising.shifting import shift_times
from smfparse.errors import DamageLog
from smfparse.places.kinds import Place
from smfparse.reading.chunks import Chunk
from smfparse.reading.packing import unpacked
from smfparse.vectors import Bools, Bytes

if TYPE_CHECKING:
    from smfparse.inputs.sources import SmfFile

_AT_ONCE = 1 << 24
"""Number of bytes searched in one step."""
_OVERLAP = 64
"""Number of bytes searched again in the next step, to find names at the border: the maximum length
of a name.
"""


class Proof(NamedTuple):
    """The result of the verification of a copy.

    records  number of records whose numbers are equal in both files
    other    number of records whose numbers differ
    left     number of places with an old name of at least 4 characters
    """

    records: int
    other: int
    left: int

    def holds(self, done: Replaced, pseudonyms: Pseudonyms) -> bool:
        """Whether all numbers are equal, and no more old names remain than were kept."""
        kept = done.in_kept if pseudonyms.keeps else 0
        return not self.other and self.left <= done.by_chance + kept


def proof(file: SmfFile, copy: SmfFile, pseudonyms: Pseudonyms, shift_days: int = 0) -> Proof:
    """Compare a file with its copy, number by number, and search the copy for old names.

    shift_days  number of days by which times were shifted
    """
    same = other = 0
    for first, second in zip_longest(
        file.chunks(_ignored_damage()), copy.input.chunks(_ignored_damage())
    ):
        if first is None or second is None or not np.array_equal(first.length, second.length):
            return Proof(same, other + 1, _old_names(copy.path, pseudonyms))
        equal = _are_equal(first, second, shift_days)
        same += int(equal.sum())
        other += int((~equal).sum())
    return Proof(same, other, _old_names(copy.path, pseudonyms))


def _ignored_damage() -> DamageLog:
    """Return a log without entries, for damage that was already reported."""
    return DamageLog(keep=0)


def _are_equal(first: Chunk, second: Chunk, shift_days: int) -> Bools:
    """Return which records have the same numbers in both chunks."""
    low, high = int(first.start.min()), int((first.start + first.length).max())
    shift = int(second.start[0]) - int(first.start[0])
    named, ours = Named(first), first.buffer.copy()
    shift_times(ours, named, shift_days)
    at = np.flatnonzero(ours[low:high] != second.buffer[low + shift : high + shift]) + low
    wrong, _ = named.owner(at[named.are_numbers(at)])
    equal: Bools = np.ones(first.start.size, np.bool_)
    equal[wrong] = False
    return equal


def _old_names(path: Place, pseudonyms: Pseudonyms) -> int:
    """Return the number of places in a file with old names, at any position."""
    finder, count, held = Finder(pseudonyms.replaced()), 0, 0
    room: Bytes = np.zeros(_AT_ONCE + _OVERLAP, np.uint8)
    with unpacked(path) as data:
        while added := data.fill(room.data[held:]):
            end = held + added
            border = end - _OVERLAP if end == room.size else end
            for at, _ in finder.found(room, 0, end):
                count += int((at < border).sum())
            held = end - border
            room[:held] = room[border:end]
    return count
