"""Records whose length leads on, but covers the next record as well.

One wrong bit is enough for that, in a length or in what ends a record, and the chain goes on behind
as if nothing was wrong. But the record is longer than what is in it says, by a record with a header
of its own.
"""

from __future__ import annotations

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
    odd     whether it is damaged itself
    """

    head: int
    final: int
    place: int
    told: int
    single: bool
    odd: bool

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
) -> tuple[Overlong | None, list[int]]:
    """Return the first record of a run that covers another one; None: there is none.

    And the places in the records before where one has a header, but leads to no other.

    good  which segments start a record
    end   of the data in the buffer
    last  whether nothing comes behind `end`
    """
    if not good.any() or _covers_nothing(heads, run):
        return None, []
    records = _Records(heads.buffer, run, good)
    hidden = list[int]()
    found = list[Overlong]()
    for places in (records.behind_pieces(), records.in_pieces(walk)):
        for each in places:
            if leads_on(walk, heads.buffer, each.place, end, last) is not False:
                found.append(each)
                break
            if each.odd:
                hidden.append(each.place)
        if found and _covers_nothing(heads, found[0].parted(run)):
            break
    first = min(found, key=lambda each: each.place, default=None)
    return first, sorted(each for each in hidden if first is None or each < first.place)


def _covers_nothing(heads: Heads, run: Segments) -> bool:
    """Whether in a short run no header is but where a record starts.

    What the last segment covers, where no other follows, is found as what comes behind damage.
    """
    low, end = int(run.at[0]), int(run.at[-1]) + SMF_HEADER if run.broken else run.end
    if end - low > _SHORT:
        return False
    starts = set(run.at[run.code <= FIRST].tolist())
    return all(each in starts for each in heads.between(low, end))


class _Records:
    """The records of a run that start as they should.

    head   int64 (records,): index of the first segment
    final  int64 (records,): index of the last one
    sound  bool (records,): whether they have a system indicator byte and a system id
    told   int64 (records,): bytes by what is in them; 0: not known
    size   int64 (records,): bytes that they have
    odd    bool (records,): whether what says where they end is damaged: their header, or triplets
    """

    def __init__(self, buffer: Bytes, run: Segments, good: Bools) -> None:
        self._buffer = buffer
        self._run = run
        starts = np.flatnonzero(run.code <= FIRST)
        finals = np.append(starts[1:], run.code.size) - 1
        mine = good[starts]
        self.head, self.final = starts[mine], finals[mine]
        self._before = np.append(0, np.cumsum(run.length - RDW_SIZE))
        self.size = self._before[self.final + 1] - self._before[self.head] + RDW_SIZE
        told = implied_length(buffer, run.at[self.head])
        first = run.length[self.head] >= TRIPLETS_END
        short = np.flatnonzero(~first & (run.code[self.head] == FIRST))
        short = short[is_mq(buffer, run.at[self.head[short]])]
        if short.size:
            pieces = self.head[short]
            first[short] = has_triplets(buffer, run.at[pieces], run.length[pieces])
        lone = np.where(run.code[self.head] == WHOLE, True, first & (self.size > told))
        shown = np.where(self.head == self.final, lone, first)
        self.sound = are_sound(buffer, run.at[self.head])
        self.told = np.where(shown, told, 0)
        ends = np.isin(run.code[self.final], (WHOLE, LAST))
        wrong = (self.size > self.told) | ((self.size < self.told) & ends)
        seen = run.length[self.head] >= SMF_HEADER
        self.odd = (seen & ~self.sound) | ((self.told > 0) & wrong)

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
                if size >= self.told[record] or self.odd[record]:
                    yield self._overlong(record, index - 1, int(run.place[index]))

    def in_pieces(self, walk: Walk) -> Iterator[Overlong]:
        """Give places in segments where others may start: behind what is in the records.

        In a record of which that is not sure, they may start anywhere.
        """
        run = self._run
        piece, record = self._doubtful()
        before = self._before[piece] - self._before[self.head[record]] + RDW_SIZE
        start = run.at[piece]
        end = start + run.length[piece]
        told = start + RDW_SIZE + np.maximum(self.told[record] - before, 0)
        low = np.where(self.odd[record], start + RDW_SIZE, told)
        is_long = end - low >= SMF_HEADER - RDW_SIZE
        is_long &= (piece < run.code.size - 1) | (not run.broken)
        long = np.flatnonzero(is_long)
        if not long.size:
            return
        apart = np.flatnonzero(low[long[1:]] - end[long[:-1]] > _FAR) + 1
        for some in np.split(long, apart):
            range_ = low[some], told[some], end[some]
            yield from self._in_stretch(walk, piece[some], record[some], *range_)

    def _doubtful(self) -> tuple[Ints, Ints]:
        """Return the segments that may cover a record, and of which record each is.

        They are the last ones, and all of a record in pieces that does not tell where it ends, or
        is damaged.
        """
        several = np.flatnonzero((self.final > self.head) & ((self.told == 0) | self.odd))
        earlier = [np.arange(self.head[each], self.final[each]) for each in several]
        piece = np.concatenate([self.final, *earlier])
        count = (self.final - self.head)[several]
        record = np.concatenate([np.arange(self.head.size), np.repeat(several, count)])
        order = np.argsort(piece, kind="stable") if several.size else slice(None)
        return piece[order], record[order]

    def _in_stretch(
        self, walk: Walk, piece: Ints, record: Ints, low: Ints, told: Ints, end: Ints
    ) -> Iterator[Overlong]:
        """Give the first place in each of some segments between `low` and `end`.

        A header right behind what is `told` to be in the record has no room for a length.
        """
        run = self._run
        places = headers_in(self._buffer, int(low[0]) - 1, int(end[-1]))
        owner = np.maximum(np.searchsorted(low - 1, places, side="right") - 1, 0)
        inside = np.flatnonzero(places + SMF_HEADER <= end[owner])
        seen = set[int]()
        for index, number in zip(inside.tolist(), owner[inside].tolist(), strict=True):
            own = int(record[number])
            doubtful = self.told[own] or not self.sound[own]
            begin = walk.begin(self._buffer, int(places[index]), int(low[number]))
            if begin is None or begin < told[number] <= places[index] + RDW_SIZE:
                continue
            if number in seen and not doubtful:
                continue
            seen.add(number)
            if doubtful or self._leads_to(walk, begin, int(end[number])):
                ends = run.code[piece[number]] in (WHOLE, LAST)
                yield self._overlong(own, int(piece[number]), begin, bool(ends))

    def _overlong(self, record: int, final: int, place: int, ends: bool = True) -> Overlong:
        """Return a record up to `final`; `ends` says whether that segment ends a record at all."""
        head, told = int(self.head[record]), int(self.told[record])
        single = ends and head == final and bool(self.sound[record])
        return Overlong(head, final, place, told, single, bool(self.odd[record]))

    def _leads_to(self, walk: Walk, begin: int, end: int) -> bool:
        """Whether the records from `begin` on end just at `end`."""
        found = walk.segments(self._buffer, begin, end, True)
        return not found.broken and found.end == end
