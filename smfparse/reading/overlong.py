"""Records whose length also covers the next record.

One wrong bit in a length, or in an end mark, is a sufficient cause. The chain of lengths continues
after the covered record and shows no damage. But the record is longer than its contents imply, and
the excess is a record with its own header. A run is the `Segments` that one walk found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from smfparse.reading.evidence import Heads, fills, leads_on
from smfparse.reading.headers import (
    SMF_HEADER,
    TRIPLETS_END,
    are_sound,
    has_triplets,
    headers_in,
    implied_length,
    is_header,
    is_mq,
    plausible,
)
from smfparse.reading.segments import FIRST, LAST, RDW_SIZE, WHOLE, Segments, Walk
from smfparse.vectors import Bools, Bytes, Ints, each_of

_FAR = 1 << 14
"""Minimum distance in bytes between two ranges of a buffer that are searched separately."""
_SHORT = 1 << 12
"""Maximum bytes of a run whose headers are checked first, because `Heads` contains them already."""
_TRIED, _STEPS = 16, 4
"""Maximum number of headers tried per record; maximum number of segments walked from each header.
"""


class Overlong(NamedTuple):
    """A record whose length also covers the next record.

    head     index of the first segment of the record
    final    index of the segment that contains the true end of the record
    place    start of the first covered record, or of its descriptor words
    implied  length of the record in bytes, implied by its contents; 0: unknown
    single   whether the first segment seems to be the complete record
    odd      whether the end is so doubtful that a record at `place` need not lead to another
    """

    head: int
    final: int
    place: int
    implied: int
    single: bool
    odd: bool

    def parted(self, run: Segments) -> Segments:
        """Return the segments of a run up to the start of the covered record."""
        run = run.upto(self.final + 1, self.place)
        length, code = run.length.copy(), run.code.copy()
        length[-1] = min(length[-1], self.place - run.at[-1])
        code[-1] = WHOLE if self.head == self.final else LAST
        return replace(run, length=length, code=code)

    def is_whole(self, run: Segments) -> bool:
        """Whether the record, the last of a run, is complete without the records that it covers."""
        pieces = run.length[self.head :]
        size = int((pieces - RDW_SIZE).sum()) + RDW_SIZE
        return size == self.implied if self.implied else self.single


def first_overlong(
    walk: Walk, heads: Heads, run: Segments, good: Bools, end: int, last: bool
) -> tuple[Overlong | None, list[int]]:
    """Return the first record of a run that covers another record, and the hidden places.

    Hidden places are places of headers in earlier records that lead to no other record.

    good  bool (segments,): whether the segment starts a record
    end   end of the data in the buffer
    last  whether no data follows `end`
    """
    if not run.code.size or _covers_nothing(heads, run):
        return None, []
    closed = last and run.end == end and not run.broken
    records = _Records(heads.buffer, run, good, closed)
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
    """Whether all headers in a short run are at the starts of records."""
    low = int(run.at[0])
    if run.end - low > _SHORT:
        return False
    starts = set(run.at[run.code <= FIRST].tolist())
    return all(each in starts for each in heads.between(low, run.end))


class _Records:
    """The records of a run that start correctly, and the pieces of records without a first segment.

    head     int64 (records,): index of the first segment
    final    int64 (records,): index of the last segment
    sound    bool (records,): whether the header has a valid system indicator byte and system id
    implied  int64 (records,): bytes of the record, implied by its contents; 0: unknown
    odd      bool (records,): whether the end is doubtful: header or triplets are damaged, the
             record has no end, or the record has no implied length and leads to no other record
    """

    def __init__(self, buffer: Bytes, run: Segments, good: Bools, closed: bool) -> None:
        self._buffer = buffer
        self._run = run
        ended = (run.code == WHOLE) | (run.code == LAST)
        starts = np.flatnonzero((run.code <= FIRST) | np.append(True, ended[:-1]))
        finals = np.append(starts[1:], run.code.size) - 1
        mine = good[starts] | (run.code[starts] > FIRST)
        self.head, self.final = starts[mine], finals[mine]
        self._before = np.append(0, np.cumsum(run.length - RDW_SIZE))
        end = np.where(run.code[self.head] == WHOLE, self.head, self.final)
        size = self._before[end + 1] - self._before[self.head] + RDW_SIZE
        code, seen = run.code[end], run.length[self.head]
        self.sound = are_sound(buffer, run.at[self.head])
        self.implied = implied_length(buffer, run.at[self.head])
        apart = np.flatnonzero((code != WHOLE) & (seen < TRIPLETS_END))
        if apart.size:
            ends = self.final[apart], self._before[self.head[apart]]
            self.implied[apart] = _implied_in_pieces(buffer, run, self._before, *ends, size[apart])
        has_end = (code == WHOLE) | (code == LAST)
        wrong = (size > self.implied) | ((size < self.implied) & has_end)
        self.odd = (wrong & (self.implied > 0)) | (~self.sound & (seen >= SMF_HEADER))
        stray = run.code[self.head] > FIRST
        self.implied[stray], self.sound[stray] = 0, False
        self.odd |= stray
        is_last = self.final == run.code.size - 1
        self.odd |= ~has_end & (closed | ~is_last)
        self.odd |= is_last & run.broken & (self.implied == 0)

    def behind_pieces(self) -> Iterator[Overlong]:
        """Yield the records with a later segment that starts with an SMF header."""
        run, buffer = self._run, self._buffer
        later = np.flatnonzero((run.code >= LAST) & (run.length >= SMF_HEADER))
        if not later.size:
            return
        later = later[plausible(buffer, run.at[later])]
        later = later[are_sound(buffer, run.at[later])]
        owner = np.searchsorted(self.head, later) - 1
        for index, record in zip(later.tolist(), owner.tolist(), strict=True):
            if record >= 0 and index <= self.final[record]:
                before = self._before[index] - self._before[self.head[record]] + RDW_SIZE
                if before >= self.implied[record] or self.odd[record]:
                    odd = bool(self.odd[record])
                    yield self._overlong(record, index - 1, int(run.place[index]), odd=odd)

    def in_pieces(self, walk: Walk) -> Iterator[Overlong]:
        """Yield the records with a segment that may contain another record after the implied end.

        In a record with a doubtful end, another record may start anywhere.
        """
        run = self._run
        piece, record = self._doubtful()
        before = self._before[piece] - self._before[self.head[record]] + RDW_SIZE
        start = run.at[piece]
        end = start + run.length[piece]
        implied = start + RDW_SIZE + np.maximum(self.implied[record] - before, 0)
        low = np.where(self.odd[record], start + RDW_SIZE, implied)
        is_long = end - low >= SMF_HEADER - RDW_SIZE
        is_long &= (piece < run.code.size - 1) | (not run.broken) | self.odd[record]
        long = np.flatnonzero(is_long)
        if not long.size:
            return
        apart = np.flatnonzero(low[long[1:]] - end[long[:-1]] > _FAR) + 1
        for some in np.split(long, apart):
            range_ = low[some], implied[some], end[some]
            yield from self._in_stretch(walk, piece[some], record[some], *range_)

    def _doubtful(self) -> tuple[Ints, Ints]:
        """Return the segments that may cover a record, and the index of the record of each.

        The last segment of each record is included. All segments of a spanned record are included
        if the record is damaged or has no implied length.
        """
        several = np.flatnonzero((self.final > self.head) & ((self.implied == 0) | self.odd))
        earlier = [np.arange(self.head[each], self.final[each]) for each in several]
        piece = np.concatenate([self.final, *earlier])
        count = (self.final - self.head)[several]
        record = np.concatenate([np.arange(self.head.size), np.repeat(several, count)])
        order = np.argsort(piece, kind="stable") if several.size else slice(None)
        return piece[order], record[order]

    def _in_stretch(
        self, walk: Walk, piece: Ints, record: Ints, low: Ints, implied: Ints, end: Ints
    ) -> Iterator[Overlong]:
        """Yield the records that contain a header in a segment between `low` and `end`.

        If a header directly follows the implied end of a record, the bytes before this end are the
        descriptor words of the covered record.
        """
        run = self._run
        places = headers_in(self._buffer, int(low[0]) - 1, int(end[-1]))
        owner = np.maximum(np.searchsorted(low - 1, places, side="right") - 1, 0)
        inside = places + SMF_HEADER <= end[owner]
        pairs = zip(owner[inside].tolist(), places[inside].tolist(), strict=True)
        for number, some in groupby(pairs, key=itemgetter(0)):
            behind = int(implied[number])
            least = int(low[number])
            found = [
                (at, walk.begin(self._buffer, at, max(least, behind) if at >= behind else least))
                for _, at in some
            ]
            heads = [(at, begin) for at, begin in found if begin is not None]
            own, final = int(record[number]), int(piece[number])
            ends = bool(run.code[final] in (WHOLE, LAST))
            for place, odd in self._covered_places(walk, own, heads, int(end[number])):
                yield self._overlong(own, final, place, ends, odd=odd)

    def _covered_places(
        self, walk: Walk, record: int, heads: list[tuple[int, int]], end: int
    ) -> Iterator[tuple[int, bool]]:
        """Yield the places where covered records may start in a record that ends at `end`.

        Each tuple is a place, and whether the end of the covering record is doubtful.

        heads  places of headers in the record, each with the place of its descriptor words

        Data of a sound record may look like a header by chance. It rarely looks like a complete
        record, a record that ends exactly at `end`, or a record from which a chain leads to `end`
        or to another header.
        """
        buffer, odd = self._buffer, bool(self.odd[record])
        is_known = not (self.implied[record] or odd) and self.sound[record]
        covers = is_known and any(_goes_on(walk, buffer, at, end) for _, at in heads[:_TRIED])
        if covers or not is_known:
            for _, begin in heads:
                yield begin, odd or covers
        elif heads and _leads_to(walk, buffer, heads[0][1], end):
            yield heads[0][1], False
        else:
            last = np.array([at for at, _ in heads[-_TRIED:]], np.int64)
            exact = last + implied_length(buffer, last) == end
            for index in np.flatnonzero(exact).tolist():
                yield heads[-_TRIED:][index][1], True

    def _overlong(
        self, record: int, final: int, place: int, ends: bool = True, odd: bool = False
    ) -> Overlong:
        """Return an overlong record; `ends` is whether the segment `final` ends a record."""
        head, implied = int(self.head[record]), int(self.implied[record])
        single = ends and head == final and bool(self.sound[record])
        return Overlong(head, final, place, implied, single, odd)


def _goes_on(walk: Walk, buffer: Bytes, begin: int, end: int) -> bool:
    """Whether the record at `begin` is as long as its contents imply, or leads to another header.

    Nothing after `end` is read.
    """
    found = walk.segments(buffer, begin, end, True, _STEPS)
    starts = np.flatnonzero(found.code <= FIRST)
    if not starts.size or starts[0]:
        return False
    return bool(fills(buffer, found.where(slice(1)))[0]) or bool(
        starts.size > 1
        and found.code[starts[1] - 1] in (WHOLE, LAST)
        and is_header(buffer, int(found.at[starts[1]]))
    )


def _implied_in_pieces(
    buffer: Bytes, run: Segments, before: Ints, final: Ints, start: Ints, size: Ints
) -> Ints:
    """Return the lengths of spanned records, implied by their contents; 0: unknown.

    before  int64 (segments + 1,): bytes of data before each segment of the run
    final   int64 (records,): index of the last segment
    start   int64 (records,): bytes of data before each record
    size    int64 (records,): bytes of each record
    """
    data = each_of(start, TRIPLETS_END - RDW_SIZE)
    piece = np.minimum(np.searchsorted(before, data, side="right") - 1, final[:, None])
    place = run.at[piece] + RDW_SIZE + data - before[piece]
    heads = np.zeros((final.size, TRIPLETS_END), np.uint8)
    heads[:, RDW_SIZE:] = buffer[np.minimum(place, buffer.size - 1)]
    flat, starts = heads.reshape(-1), np.arange(final.size) * TRIPLETS_END
    shown = ~is_mq(flat, starts) | has_triplets(flat, starts, size)
    shown &= size >= SMF_HEADER
    return np.where(shown, implied_length(flat, starts), 0)


def _leads_to(walk: Walk, buffer: Bytes, begin: int, end: int) -> bool:
    found = walk.segments(buffer, begin, end, True)
    return not found.broken and found.end == end
