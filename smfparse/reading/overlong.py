"""Records whose length leads on, but covers the next record as well.

One wrong bit is enough for that, in a length or in what ends a record, and the chain goes on behind
as if nothing was wrong. But the record is longer than what is in it says, by a record with a header
of its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from smfparse.reading.evidence import are_sound, leads_on
from smfparse.reading.headers import (
    SMF_HEADER,
    TRIPLETS_END,
    has_triplets,
    headers_in,
    implied_length,
    is_mq,
    plausible,
)
from smfparse.reading.heads import Heads
from smfparse.reading.segments import FIRST, LAST, RDW_SIZE, WHOLE, Segments, Walk
from smfparse.vectors import Bools, Bytes, Ints

_FAR = 1 << 14
"""Bytes between records from which on each is searched apart."""
_SHORT = 1 << 12
"""Bytes of a run behind damage: where headers are in it is known from the search for its start."""


@dataclass(frozen=True)
class Overlong:
    """A record that covers others.

    head    index of its first segment
    final   index of the segment that ends it, as far as it is a record of its own
    place   where the first one that it covers starts, with what leads to it
    told    its bytes by what is in it; 0: not known
    single  whether it seems to be whole in its first segment
    """

    head: int
    final: int
    place: int
    told: int
    single: bool

    def parted(self, run: Segments) -> Segments:
        """Return the segments up to the end of the record, which is where the next one starts."""
        run = run.upto(self.final + 1, self.place)
        length, code = run.length.copy(), run.code.copy()
        length[-1] = min(length[-1], self.place - run.at[-1])
        code[-1] = WHOLE if self.head == self.final else LAST
        return replace(run, length=length, code=code)

    def is_whole(self, run: Segments) -> bool:
        """Whether the record, of a run that ends with it, is one without those that it covers."""
        pieces = run.length[self.head :]
        size = int((pieces - RDW_SIZE).sum()) + RDW_SIZE
        return size == self.told if self.told else self.single


def first_overlong(
    walk: Walk, heads: Heads, run: Segments, good: Bools, end: int, last: bool
) -> Overlong | None:
    """Return the first record of a run that covers another one; None: there is none.

    good  which segments start a record
    end   of the data in the buffer
    last  whether nothing comes behind `end`
    """
    buffer = heads.buffer
    if not good.any() or _covers_nothing(heads, run):
        return None
    records = _Records(buffer, run, good)
    found = list[Overlong]()
    for places in (records.behind_pieces(), records.in_pieces(walk)):
        found += itertools.islice(
            (each for each in places if _is_record(walk, buffer, each, end, last)), 1
        )
        if found and _covers_nothing(heads, found[0].parted(run)):
            break
    return min(found, key=lambda each: each.place, default=None)


def _covers_nothing(heads: Heads, run: Segments) -> bool:
    """Whether in a short run no header is but where a record starts.

    What the last segment covers, where no other follows, is found as what comes behind damage.
    """
    low, end = int(run.at[0]), int(run.at[-1]) + SMF_HEADER if run.broken else run.end
    if end - low > _SHORT:
        return False
    starts = set(run.at[run.code <= FIRST].tolist())
    return all(each in starts for each in heads.between(low, end))


def _is_record(walk: Walk, buffer: Bytes, found: Overlong, end: int, last: bool) -> bool:
    return leads_on(walk, buffer, found.place, end, last) is not False


class _Records:
    """The records of a run that start as they should.

    head   int64 (records,): index of the first segment
    final  int64 (records,): index of the last one
    sound  bool (records,): whether they have a system indicator byte and a system id
    told   int64 (records,): bytes by what is in them; 0: not known
    """

    def __init__(self, buffer: Bytes, run: Segments, good: Bools) -> None:
        self._buffer = buffer
        self._run = run
        starts = np.flatnonzero(run.code <= FIRST)
        finals = np.append(starts[1:], run.code.size) - 1
        mine = good[starts]
        self.head, self.final = starts[mine], finals[mine]
        self._before = np.append(0, np.cumsum(run.length - RDW_SIZE))
        shown = np.where(self.head == self.final, run.code[self.head] == WHOLE, True)
        first = np.flatnonzero((self.head < self.final) & (run.length[self.head] < TRIPLETS_END))
        first = first[is_mq(buffer, run.at[self.head[first]])]
        if first.size:
            pieces = self.head[first]
            shown[first] = has_triplets(buffer, run.at[pieces], run.length[pieces])
        self.sound = are_sound(buffer, run.at[self.head])
        self.told = np.where(shown, implied_length(buffer, run.at[self.head]), 0)

    def behind_pieces(self) -> Iterator[Overlong]:
        """Give places where a segment that goes on with a record starts as a record does."""
        run, buffer = self._run, self._buffer
        later = np.flatnonzero((run.code >= LAST) & (run.length >= SMF_HEADER))
        if not later.size:
            return
        later = later[plausible(buffer, run.at[later])]
        later = later[are_sound(buffer, run.at[later])]
        owner = np.searchsorted(self.head, later) - 1
        for index, record in zip(later.tolist(), owner.tolist(), strict=True):
            if record >= 0 and index <= self.final[record]:
                size = self._before[index] - self._before[self.head[record]] + RDW_SIZE
                if size >= self.told[record]:
                    yield self._overlong(record, index - 1, int(run.place[index]))

    def in_pieces(self, walk: Walk) -> Iterator[Overlong]:
        """Give places in segments, behind what is in the records, where others may start."""
        run = self._run
        piece, record = self._doubtful()
        before = self._before[piece] - self._before[self.head[record]] + RDW_SIZE
        start = run.at[piece]
        end = start + run.length[piece]
        low = start + RDW_SIZE + np.maximum(self.told[record] - before, 0)
        long = end - low >= SMF_HEADER - RDW_SIZE
        long &= (piece < run.code.size - 1) | (not run.broken)
        long = np.flatnonzero(long)
        if not long.size:
            return
        apart = np.flatnonzero(low[long[1:]] - end[long[:-1]] > _FAR) + 1
        for some in np.split(long, apart):
            yield from self._in_stretch(walk, piece[some], record[some], low[some], end[some])

    def _doubtful(self) -> tuple[Ints, Ints]:
        """Return the segments that may cover a record, and of which record each is.

        They are the last ones, and all of a record in pieces that does not tell where it ends, or
        has more than it tells.
        """
        size = self._before[self.final + 1] - self._before[self.head] + RDW_SIZE
        more = (self.final > self.head) & ((self.told == 0) | (size > self.told))
        several = np.flatnonzero(more)
        earlier = [np.arange(self.head[each], self.final[each]) for each in several]
        piece = np.concatenate([self.final, *earlier])
        count = (self.final - self.head)[several]
        record = np.concatenate([np.arange(self.head.size), np.repeat(several, count)])
        order = np.argsort(piece, kind="stable") if several.size else slice(None)
        return piece[order], record[order]

    def _in_stretch(
        self, walk: Walk, piece: Ints, record: Ints, low: Ints, end: Ints
    ) -> Iterator[Overlong]:
        """Give the first place in each of some segments between `low` and `end`."""
        run = self._run
        places = headers_in(self._buffer, int(low[0]) - 1, int(end[-1]))
        owner = np.maximum(np.searchsorted(low - 1, places, side="right") - 1, 0)
        inside = np.flatnonzero(places + SMF_HEADER <= end[owner])
        seen = set[int]()
        for index, number in zip(inside.tolist(), owner[inside].tolist(), strict=True):
            own = int(record[number])
            doubtful = self.told[own] or not self.sound[own]
            begin = walk.begin(self._buffer, int(places[index]), int(low[number]))
            if begin is None or (number in seen and not doubtful):
                continue
            seen.add(number)
            if doubtful or self._leads_to(walk, begin, int(end[number])):
                ends = run.code[piece[number]] in (WHOLE, LAST)
                yield self._overlong(own, int(piece[number]), begin, bool(ends))

    def _overlong(self, record: int, final: int, place: int, ends: bool = True) -> Overlong:
        """Return a record up to `final`; `ends` says whether that segment ends a record at all."""
        head, told = int(self.head[record]), int(self.told[record])
        single = ends and head == final and bool(self.sound[record])
        return Overlong(head, final, place, told, single)

    def _leads_to(self, walk: Walk, begin: int, end: int) -> bool:
        """Whether the records from `begin` on end just at `end`."""
        found = walk.segments(self._buffer, begin, end, True)
        return not found.broken and found.end == end
