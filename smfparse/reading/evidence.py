"""Evidence that a record starts at a place of a buffer.

Lengths alone are no evidence. A record has an SMF header with a plausible time and date, and
another record follows.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

import numpy as np

from smfparse.reading.headers import (
    SMF_HEADER,
    are_sound,
    headers_in,
    implied_length,
    is_dump,
    is_plausible,
    plausible,
    tells_length,
)
from smfparse.reading.segments import FIRST, LAST, RDW_SIZE, WHOLE, Segments, Walk
from smfparse.vectors import Bools, Bytes, Ints

_STRETCH = 1 << 14
"""Number of bytes that are searched in one step."""


class Heads:
    """The headers of z/OS in a buffer, as from `headers_in`: each stretch is searched once.

    The contents of the buffer must not change.
    """

    def __init__(self, buffer: Bytes) -> None:
        self.buffer = buffer
        self._found: dict[int, list[int]] = {}

    def between(self, low: int, end: int) -> Iterator[int]:
        """Yield, in order, every place from `low` on at which a header ends before `end`."""
        high = end - SMF_HEADER
        for number in range(low // _STRETCH, high // _STRETCH + 1):
            places = self._in(number)
            for index in range(bisect_left(places, low), len(places)):
                if places[index] > high:
                    return
                yield places[index]

    def _in(self, number: int) -> list[int]:
        found = self._found.get(number)
        if found is None:
            start = number * _STRETCH
            behind = min(start + _STRETCH + SMF_HEADER - 1, self.buffer.size)
            found = self._found[number] = headers_in(self.buffer, start, behind).tolist()
        return found


_LOOKS = ((1 << 12, 3), (1 << 17, 1 << 9))
"""Number of bytes after a place, and number of segments, that are searched for following records.

The first numbers are usually sufficient, the second suffice for the longest record in pieces of 64
bytes.
"""
_FEW = 16
"""Maximum number of segments for which checking each segment separately is faster."""


def are_heads(buffer: Bytes, found: Segments) -> Bools:
    """Return for each segment whether it can start a record.

    A first segment that is too short for the SMF header can.
    """
    if found.code.size <= _FEW:
        each = zip(found.at.tolist(), found.length.tolist(), found.code.tolist(), strict=True)
        return np.array([_is_head(buffer, *one) for one in each], np.bool_)
    seen = found.length >= SMF_HEADER
    heads: Bools = (found.code <= FIRST) & (seen | (found.code == FIRST))
    heads[heads & seen] = plausible(buffer, found.at[heads & seen])
    heads[heads] = ~holds_records(buffer, found.at[heads], found.length[heads])
    return heads


def holds_records(buffer: Bytes, start: Ints, length: Ints) -> Bools:
    """Return for each segment whether it seems to be a dump header or trailer with a record.

    A dump header or trailer contains only itself, so such a length is the length of a block.
    """
    holds: Bools = (length >= 2 * SMF_HEADER) & is_dump(buffer, start)
    if not holds.any():
        return holds
    holds[holds] = plausible(buffer, start[holds] + SMF_HEADER)
    return holds


def hides_record(walk: Walk, heads: Heads, low: int, high: int, end: int) -> bool:
    """Whether a record that leads to another record starts after `low` and before `high`."""
    places = _places(walk, heads, low, high, low + 1)
    return any(leads_on(walk, heads.buffer, place, end, False) for place in places)


def _places(walk: Walk, heads: Heads, low: int, high: int, first: int) -> Iterator[int]:
    for each in heads.between(low, high):
        place = walk.begin(heads.buffer, each, first)
        if place is not None:
            yield place


def next_record(
    walk: Walk, heads: Heads, low: int, end: int, last: bool
) -> tuple[int | None, bool]:
    """Return the place, from `low` on, of a record that leads to others, and if it is certain.

    last  whether no data follows `end`

    The place is uncertain if the following record is after `end`. None: no such place.
    """
    for place in _places(walk, heads, max(low - RDW_SIZE, 0), end, low):
        found = leads_on(walk, heads.buffer, place, end, last)
        if found is not False:
            return place, bool(found)
    return None, True


def leads_on(walk: Walk, buffer: Bytes, place: int, end: int, last: bool) -> bool | None:
    """Whether a record at `place` leads to another record; None: unknown before `end`.

    No other record is required at the end of the file, or if the contents that the triplets
    describe fill the record exactly.
    """
    for size, most in _LOOKS:
        stop = min(end, place + size)
        found = walk.segments(buffer, place, stop, last and stop == end, most)
        follows = _followed(walk, buffer, found, stop, last and stop == end)
        if follows is not None:
            return follows
    is_open = stop == end and not last and found.code.size < most
    return None if is_open else False


def _followed(walk: Walk, buffer: Bytes, found: Segments, end: int, last: bool) -> bool | None:
    """Whether the first segments are a record that leads to another record; None: unknown."""
    code, length = found.code.tolist(), found.length.tolist()
    if not code:
        return False if found.broken else None
    at = found.at.tolist()
    ends = next((index for index, each in enumerate(code) if each in (WHOLE, LAST)), len(code))
    wrong = any(each <= FIRST for each in code[1 : ends + 1])
    if wrong or not _is_head(buffer, at[0], length[0], code[0]):
        return False
    if ends == len(code):
        return False if found.broken else None
    later = next((index for index in range(ends + 1, len(code)) if code[index] <= FIRST), None)
    if later is not None and _is_head(buffer, at[later], length[later], code[later]):
        return True
    if last and found.end == end:
        return True
    if tells_length(buffer, at[0]) and fills(buffer, found.where(slice(1)))[0]:
        return True
    if later is None and found.end + RDW_SIZE + SMF_HEADER > end:
        return None
    begins = walk.begins(buffer, found.end, end) or walk.ends_line(buffer, found.end, end) > 0
    return later is None and begins


def _is_head(buffer: Bytes, at: int, length: int, code: int) -> bool:
    """Whether `are_heads` is true for one segment: for few segments this is faster."""
    if length < SMF_HEADER:
        return code == FIRST
    if code > FIRST or not is_plausible(buffer, at):
        return False
    holds = length >= 2 * SMF_HEADER and is_plausible(buffer, at + SMF_HEADER)
    return not (holds and is_dump(buffer, np.array([at]))[0])


def fills(buffer: Bytes, found: Segments) -> Bools:
    """Return for each segment whether it is a complete record of the length of its contents."""
    start = found.at
    filled: Bools = (found.code == WHOLE) & (implied_length(buffer, start) == found.length)
    return filled & are_sound(buffer, start)
