"""Which walk a file needs, and where it goes on behind damage.

Lengths alone prove nothing: a file of blocks walks perfectly as one of records. What is counted is
records whose header has the time and date that every SMF header has, one leading to the next.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from smfparse.errors import RequestError
from smfparse.layout import ENCODING
from smfparse.reading.headers import (
    SMF_HEADER,
    has_flag,
    has_system,
    headers_in,
    is_dump,
    plausible,
    told_length,
)
from smfparse.reading.walks import FIRST, MIDDLE, RDW_SIZE, WALKS, WHOLE, Segments, Walk
from smfparse.schemas import REGISTRY
from smfparse.vectors import Bools, Bytes, Ints

ENOUGH = 32
"""Records that are looked at to tell which walk fits."""
_SEEN = 1 << 12
"""Segments among which these are, and descriptor words of blocks."""
_LOOKS = ((1 << 12, 1 << 4), (1 << 17, 1 << 9))
"""Bytes behind a place, and segments in them, that are looked at to tell whether records follow
there: first as much as mostly tells; then the longest record, even in pieces of 64 bytes."""
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
    """Return the framing that was asked for by name. Raises RequestError where there is none."""
    if name not in WALKS:
        raise RequestError(f"no framing is called {name}; there are {', '.join(WALKS)}")
    return Framing(WALKS[name], "as asked")


def detect(buffer: Bytes, at: int, end: int, last: bool) -> Framing | None:
    """Tell by the data in buffer[at:end], the start of a file, which walk it needs.

    last  whether that is the whole file

    None: there are no SMF records in it that can be told apart.
    """
    found = {each: _found(each, buffer, at, end, last) for each in WALKS.values()}
    most = max(each.count for each in found.values())
    if not most and is_translated(buffer[at:end].tobytes()):
        return None
    if most < ENOUGH:
        found = {each: _found(each, buffer, at, end, last, further=True) for each in found}
    if found[WALKS["bdw"]].count:
        del found[WALKS["rdw"]]  # it finds records in blocks too, but those that go on in another
    if found[WALKS["ftp-record"]].count > 1:
        del found[WALKS["none"]]  # it finds records between marks too, but those with an escape
    chained = max(it.count for each, it in found.items() if each.chained)
    found = {
        each: it
        for each, it in found.items()
        if each.chained or it.place == at or it.count > 2 * chained
    }
    walk = max(found, key=lambda each: (found[each].score, -found[each].place))
    if found[walk].count:
        return Framing(walk, _why(walk, found[walk].count, found[walk].place - at))
    for each in WALKS.values():
        if last and _is_cut(each, buffer, at, end):
            return Framing(each, f"the first record, which is cut, has {each.title}")
    return None


def _why(walk: Walk, count: int, behind: int) -> str:
    """Return why a walk is taken, when `count` records are found `behind` the start by it."""
    first = "the first record has" if count == 1 else f"the first {count} records have"
    place = f", behind {behind} other bytes," if behind else ""
    return f"{first}{place} {walk.title}"


@dataclass(frozen=True)
class _Found:
    """Records that a walk finds: how many, up to ENOUGH, and where the first one is.

    score  by which walks are compared: records that are as long as what is in them says count twice
    """

    score: int
    count: int
    place: int


def _found(
    walk: Walk, buffer: Bytes, at: int, end: int, last: bool, further: bool = False
) -> _Found:
    """Return the records that a walk finds in buffer[at:end], the start of a file.

    further  whether it goes on behind damage, until there are ENOUGH; else they are those that
             follow each other from `at` on
    """
    score = count = 0
    place: int | None = at
    first, shown = at, False
    while place is not None and count < ENOUGH:
        data = buffer if walk.mapped else buffer.copy()
        run, heads = _run(walk, data, place, end, last)
        heads = heads[: ENOUGH - count]
        if heads.size:
            first = first if count else place
            shown = shown or walk.shows(data, run, at, end)
            count += heads.size
            score += heads.size + int(_fills(data, run.where(heads)).sum())
        if not further or (heads.size and run.gaps and not walk.chained):
            break
        place = _later(walk, buffer, int(run.place[heads[-1]] if heads.size else place), end, last)
    return _Found(score, count, first) if shown else _Found(0, 0, at)


def _run(walk: Walk, buffer: Bytes, at: int, end: int, last: bool) -> tuple[Segments, Ints]:
    """Return the segments from `at` on, and which start records, up to one that does not."""
    found = walk.segments(buffer, at, end, last, _SEEN)
    if found.gaps and not walk.chained:
        found = found.where(found.place < found.gaps[0][0])
    heads = np.flatnonzero(found.code <= FIRST)[:ENOUGH]
    if not heads.size or heads[0]:
        return found, heads[:0]
    good = are_heads(buffer, found)[heads]
    return found, heads if good.all() else heads[: int(np.argmin(good))]


def _is_cut(walk: Walk, buffer: Bytes, at: int, end: int) -> bool:
    """Whether a record begins at `at` that does not end before `end`."""
    found = walk.segments(buffer.copy(), at, end, True)
    return not found.code.size and not found.broken and walk.begins(buffer, at, end)


def _later(walk: Walk, buffer: Bytes, at: int, end: int, last: bool) -> int | None:
    """Return the first place behind `at` from which on there are records; None: nowhere."""
    if walk.chained:
        place, sure = next_record(walk, buffer, at + 1, end, last)
        return place if sure else None
    buffer = buffer.copy()
    found = walk.segments(buffer, at + 1, end, last)
    good = np.flatnonzero(are_heads(buffer, found))
    return int(found.place[good[0]]) if good.size > 1 else None


def are_heads(buffer: Bytes, found: Segments) -> Bools:
    """Return which segments can start a record, as far as that is seen.

    Of a first segment that is too short for the SMF header nothing is known.
    """
    seen = found.length >= SMF_HEADER
    heads: Bools = (found.code <= FIRST) & (seen | (found.code == FIRST))
    heads[heads & seen] = plausible(buffer, found.at[heads & seen])
    heads[heads] = ~holds_records(buffer, found.at[heads], found.length[heads])
    return heads


def holds_records(buffer: Bytes, start: Ints, length: Ints) -> Bools:
    """Return which segments seem to be a header or trailer of a dump, and have a record behind it.

    Nothing else is in a header or trailer: the length is that of a block.
    """
    holds: Bools = (length >= 2 * SMF_HEADER) & is_dump(buffer, start)
    holds[holds] = plausible(buffer, start[holds] + SMF_HEADER)
    return holds


def hides_record(walk: Walk, buffer: Bytes, low: int, high: int, end: int) -> bool:
    """Whether a record that another one follows starts behind `low` and before `high`."""
    places = _places(walk, buffer, low, high, low + 1)
    return any(leads_on(walk, buffer, place, end, False) for place in places)


def _places(walk: Walk, buffer: Bytes, low: int, high: int, first: int) -> Iterator[int]:
    """Give where, from `first` on, records may start whose headers are between `low` and `high`."""
    for each in headers_in(buffer, low, high).tolist():
        place = walk.begin(buffer, each, first)
        if place is not None:
            yield place


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
        for place in _places(walk, buffer, start, stop, low):
            found = leads_on(walk, buffer, place, end, last)
            if found is not False:
                return place, bool(found)
        start = stop - SMF_HEADER + 1
        size *= 4
    return None, True


def leads_on(walk: Walk, buffer: Bytes, place: int, end: int, last: bool) -> bool | None:
    """Whether a record is at `place` and another behind it; None: not to be told before `end`.

    Another one is not needed where the file ends there, or where all that the record's triplets
    point to fills it exactly.
    """
    for size, most in _LOOKS:
        stop = min(end, place + size)
        found = walk.segments(buffer, place, stop, last and stop == end, most)
        told = _followed(walk, buffer, found, stop, last and stop == end)
        if told is not None:
            return told
        if stop == end and found.code.size < most:
            return False if last else None
    return False


def _followed(walk: Walk, buffer: Bytes, found: Segments, end: int, last: bool) -> bool | None:
    """Whether the first segments are those of a record that another one follows; None: not told."""
    code, heads = found.code, are_heads(buffer, found)
    if not code.size:
        return False if found.broken else None
    later = np.flatnonzero(code[1:] <= FIRST) + 1
    pieces = code[: later[0] if later.size else code.size]
    goes_on = (pieces == FIRST) | (pieces == MIDDLE)
    if not heads[0] or not goes_on[:-1].all():
        return False
    if goes_on[-1]:
        return False if found.broken or later.size else None
    if _fills(buffer, found)[0] or (last and found.end == end):
        return True
    if later.size:
        return bool(heads[later[0]])
    if found.end + RDW_SIZE + SMF_HEADER <= end:
        return walk.begins(buffer, found.end, end)
    return None


def _fills(buffer: Bytes, found: Segments) -> Bools:
    """Return which segments are whole records, and as long as what is in them says."""
    start = found.at
    filled: Bools = (found.code == WHOLE) & (told_length(buffer, start) == found.length)
    return filled & has_flag(buffer, start) & has_system(buffer, start)


def is_translated(data: bytes) -> bool:
    """Whether the names of control blocks stand in `data` as ASCII text: it is no binary copy."""
    return any(each in data for each in _ASCII_NAMES)
