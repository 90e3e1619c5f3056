"""Which walk a file needs, and where it goes on behind damage.

Lengths alone prove nothing: a file of blocks walks perfectly as one of records. What is counted is
records whose header has the time and date that every SMF header has, one leading to the next.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from smfparse.arrays import Bools, Bytes
from smfparse.fields import ENCODING
from smfparse.headers import (
    SMF_HEADER,
    content_end,
    has_flag,
    has_system,
    headers_in,
    is_dump,
    is_mq,
    plausible,
)
from smfparse.schemas import REGISTRY
from smfparse.walks import FIRST, MIDDLE, RDW_SIZE, WALKS, WHOLE, Segments, Walk

ENOUGH = 32
"""Records that are looked at to tell which walk fits."""
_WINDOWS = (1 << 12, 1 << 18)
"""Bytes behind a place that are looked at to tell whether records follow there."""
_ASCII_NAMES = {
    block.eyecatcher[1].decode(ENCODING).encode()
    for triplets in REGISTRY.values()
    for block in triplets.values()
    if block.eyecatcher
}
_FIRST_SEARCH = 1 << 16
"""Bytes that are searched first for the next record; then more and more."""


@dataclass(frozen=True)
class Framing:
    """How the records of a file are told apart, and why that is thought."""

    walk: Walk
    why: str

    @property
    def name(self) -> str:
        """What `--framing` calls it."""
        return self.walk.name


def named(name: str) -> Framing:
    """Return the framing that was asked for by name."""
    return Framing(WALKS[name], "as asked")


def detect(buffer: Bytes, at: int, end: int, last: bool) -> Framing | None:
    """Tell by the data in buffer[at:end], the start of a file, which walk it needs.

    last  whether that is the whole file

    None: there are no SMF records in it that can be told apart.
    """
    scores = {each: _score(each, buffer, at, end, last) for each in WALKS.values()}
    best = max(scores, key=lambda each: scores[each])
    found = scores[best]
    if found >= 1:
        count = int(found)
        say = f"the first {count} records have" if count > 1 else "the first record has"
        return Framing(best, f"{say} {best.title}")
    if found > 0:
        return Framing(best, f"the first record, which is cut, has {best.title}")
    if is_translated(buffer[at:end].tobytes()):
        return None
    places = {each: _later(each, buffer, at, end, last) for each in WALKS.values()}
    first = min(places.values())
    if first == end:
        return None
    best = next(each for each, place in places.items() if place == first)
    return Framing(best, f"records behind {first - at} other bytes have {best.title}")


def _score(walk: Walk, buffer: Bytes, at: int, end: int, last: bool) -> float:
    """Return how many records, up to ENOUGH, are at the start; 0.5 for the beginning of one."""
    if not walk.may_start(buffer, at):
        return 0
    found = walk.segments(buffer if walk.mapped else buffer.copy(), at, end, last)
    if found.gaps:
        found = found.where(found.place < found.gaps[0][0])
    if not found.code.size:
        cut = last and not found.broken and walk.chained
        return 0.5 if cut and begins(walk, buffer, at, end) else 0
    if found.code[0] > FIRST:
        return 0
    good = are_heads(buffer, found)[found.code <= FIRST]
    return min(len(good) if good.all() else int(np.argmin(good)), ENOUGH)


def _later(walk: Walk, buffer: Bytes, at: int, end: int, last: bool) -> int:
    """Return the first place behind `at` from which on there are records; `end`: nowhere."""
    if walk.chained:
        place, _ = next_record(walk, buffer, at + 1, end, last)
        return end if place is None or not walk.may_start(buffer, place) else place
    buffer = buffer.copy()
    found = walk.segments(buffer, at, end, last)
    good = np.flatnonzero(are_heads(buffer, found))
    return int(found.place[good[0]]) if good.size > 1 else end


def are_heads(buffer: Bytes, found: Segments) -> Bools:
    """Return which segments can start a record, as far as that is seen.

    Of a first segment that is too short for the SMF header nothing is known.
    """
    seen = found.length >= SMF_HEADER
    heads: Bools = (found.code <= FIRST) & (seen | (found.code == FIRST))
    heads[heads & seen] = plausible(buffer, found.at[heads & seen])
    return heads


def begins(walk: Walk, buffer: Bytes, place: int, end: int) -> bool:
    """Whether an SMF header stands where a record that begins at `place` has it."""
    starts = headers_in(
        buffer, max(place - RDW_SIZE, 0), min(end, place + 2 * RDW_SIZE + SMF_HEADER)
    )
    return any(walk.begin(buffer, int(each), place) == place for each in starts)


def next_record(
    walk: Walk, buffer: Bytes, low: int, end: int, last: bool
) -> tuple[int | None, bool]:
    """Return where, from `low` on, a record starts and others follow; and whether that is sure.

    last  whether nothing comes behind `end`

    It is not sure where what follows is behind `end`. None: nowhere.
    """
    start, size = max(low - RDW_SIZE, 0), _FIRST_SEARCH
    while start < end - SMF_HEADER:
        stop = min(start + size, end)
        for each in headers_in(buffer, start, stop).tolist():
            place = walk.begin(buffer, each, low)
            found = None if place is None else leads_on(walk, buffer, place, end, last)
            if found or (found is None and place is not None):
                return place, bool(found)
        start = stop - SMF_HEADER + 1
        size *= 4
    return None, True


def leads_on(walk: Walk, buffer: Bytes, place: int, end: int, last: bool) -> bool | None:
    """Whether a record is at `place` and another behind it; None: not to be told before `end`.

    Another one is not needed where the file ends there, or where all that the record's triplets
    point to fills it exactly.
    """
    for window in _WINDOWS:
        stop = min(end, place + window)
        ends = last and stop == end
        found = walk.segments(buffer, place, stop, ends)
        code = found.code
        if code.size and (code[0] > FIRST or not are_heads(buffer, found)[0]):
            return False
        later = np.flatnonzero(code[1:] <= FIRST) + 1
        pieces = code[: later[0] if later.size else code.size]
        goes_on = (pieces == FIRST) | (pieces == MIDDLE)
        if (goes_on[:-1] != True).any():
            return False
        if pieces.size and not goes_on[-1]:
            if _fills(buffer, found) or (ends and found.end == end):
                return True
            if later.size:
                return bool(are_heads(buffer, found)[later[0]])
            behind = found.end + line_end(buffer, found.end, end)
            if behind + RDW_SIZE + SMF_HEADER <= stop:
                return begins(walk, buffer, behind, end)
            if ends and behind == end:
                return True
        elif found.broken or later.size:
            return False
        if stop == end:
            return False if last else None
    return False


def _fills(buffer: Bytes, found: Segments) -> bool:
    """Whether the first segment is a record that is as long as what is in it says."""
    start = found.at[:1]
    if found.code[0] != WHOLE or not (has_flag(buffer, start) & has_system(buffer, start))[0]:
        return False
    if is_mq(buffer, start)[0]:
        return bool(content_end(buffer, start)[0] == found.length[0])
    return bool(is_dump(buffer, start)[0] and found.length[0] == SMF_HEADER)


def line_end(buffer: Bytes, at: int, end: int) -> int:
    """Return the bytes of a line end of a text file that is at `at`, 0 if there is none."""
    data = buffer[at : min(at + 2, end)].tobytes()
    return 2 if data == b"\r\n" else int(data[:1] == b"\n")


def is_translated(data: bytes) -> bool:
    """Whether the names of control blocks stand in `data` as ASCII text: it is no binary copy."""
    return any(each in data for each in _ASCII_NAMES)
