"""Framing `none`: no bytes between the records."""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from smfparse.reading.headers import (
    HEADER_END,
    SMF_HEADER,
    are_sound,
    has_flag,
    has_system,
    headers_in,
    implied_length,
    is_mq,
    plausible,
)
from smfparse.reading.marks import Ends, is_escaped, names_agree
from smfparse.reading.segments import ALL, LINE_END, MOST_LENGTH, RDW_SIZE, Segments, Walk
from smfparse.vectors import Bools, Bytes, Ints

_LONGEST = 32_760
"""Maximum bytes of an SMF record, with its RDW."""


class BareWalk(Walk):
    """No bytes between records: a record ends where its triplets end, before the next header.

    is_asked  whether the user chose this framing; if so, no other framing is suspected
    """

    is_asked = False
    chained = False
    marked = False
    mapped = False

    def segments(self, buffer: Bytes, at: int, end: int, last: bool, most: int = ALL) -> Segments:  # noqa: ARG002
        starts = headers_in(buffer, at - RDW_SIZE, end)
        lengths = implied_length(buffer, starts)
        found, gaps, used = Unframed(starts.tolist(), lengths.tolist(), end, last).records(at)
        unknown = set(starts[lengths == 0].tolist())
        for number, (here, size) in enumerate(found):
            own = _own_length(buffer, here, size) if here in unknown else size
            if own < size:
                found[number] = here, own
                gaps.append((here + own, size - own))
        places, length = np.array(found, np.int64).reshape(-1, 2).T
        codes = np.zeros(len(found), np.uint8)
        implied = lengths[np.isin(starts, places[-1:] if last else ())]
        short = int(np.max(implied - length[-1:], initial=0))
        return Segments(places, length, codes, places + RDW_SIZE, used, gaps=gaps, short=short)

    def begin(self, buffer: Bytes, at: int, least: int) -> int | None:
        return super().begin(buffer, at + RDW_SIZE, least)

    def asked(self) -> Walk:
        return _ASKED

    def are_shifted(
        self, buffer: Bytes, found: Segments, start: int, end: int, last: bool
    ) -> Bools:
        """Return for each MQ record whether it may contain escapes of FTP's record structure.

        In such a record, a byte is FF, and QWHS, the last block, is not in place. Or the place of
        QWHS is unknown, no record follows at the end, and almost no other record shows that the
        file has no marks.
        """
        shifted = np.zeros(found.code.size, np.bool_)
        if self.is_asked:
            return shifted
        damaged = found.gaps or found.short or (last and found.end < end)
        some = np.arange(found.code.size)[0 if damaged else -1 :]
        some = some[is_mq(buffer, found.at[some])]
        at = found.at[some]
        behind = at + implied_length(buffer, at)
        loose = ~_is_followed(buffer, behind, end) | (behind != at + found.length[some])
        bare = not loose.any() or Ends.of(buffer[start:end]).are_bare
        for index in np.flatnonzero(loose | ~names_agree(buffer, at)).tolist():
            first = int(found.place[some[index]])
            data = buffer[first : first + int(found.length[some[index]]) - RDW_SIZE]
            fits = is_escaped(data)
            shifted[some[index]] = fits is True or (fits is None and loose[index] and not bare)
        return shifted


class _AskedWalk(BareWalk):
    """The walk of a file for which the user chose this framing."""

    is_asked = True


_ASKED = _AskedWalk()


def _is_followed(buffer: Bytes, behind: Ints, end: int) -> Bools:
    """Return for each record that ends at `behind` whether a record or the end of the file follows.

    A line end may be between.
    """
    behind = np.minimum(behind, end + 1)
    one = buffer[behind] == LINE_END[1]
    two = (buffer[behind] == LINE_END[0]) & (buffer[behind + 1] == LINE_END[1])
    behind = behind + np.where(two, 2, one)
    place = np.minimum(behind, end) - RDW_SIZE
    found: Bools = (behind == end) | (plausible(buffer, place) & are_sound(buffer, place))
    return found


def _own_length(buffer: Bytes, here: int, size: int) -> int:
    """Return the length of a record of another product that seems to have `size` bytes.

    The other bytes are MQ records with damaged headers. Each MQ record ends, by its triplets, at
    the start of the next record, and at most one of flag, time and date, and system is damaged.
    """
    inside = np.arange(here + SMF_HEADER - RDW_SIZE, here + size - HEADER_END + 1)
    inside = inside[is_mq(buffer, inside)]
    headed = [each(buffer, inside).astype(int) for each in (has_flag, plausible, has_system)]
    inside = inside[sum(headed) >= len(headed) - 1]
    end, implied = here + size, implied_length(buffer, inside)
    for start, behind in zip(inside[::-1].tolist(), (inside + implied)[::-1].tolist(), strict=True):
        if behind == end:
            end = start + RDW_SIZE
    return end - here


class Unframed:
    """Records that are found only by their headers and by the length that their triplets imply.

    starts   places of headers of records, or of bytes in a record that look like a header
    lengths  bytes of each record by its triplets; 0: unknown
    """

    def __init__(self, starts: list[int], lengths: list[int], end: int, last: bool) -> None:
        self._starts = starts
        self._lengths = lengths
        self._end = end
        self._last = last

    def records(self, at: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]], int]:
        """Return start and length of the records from `at` on, the gaps, and the end of all."""
        found: list[tuple[int, int]] = []
        gaps: list[tuple[int, int]] = []
        index = 0
        while index < len(self._starts):
            size, following = self._extent(index)
            if not following:
                break
            here = self._starts[index]
            if size:
                if here + RDW_SIZE > at:
                    gaps.append((at, here + RDW_SIZE - at))
                found.append((here, size))
                at = here + size
            index = following
        if not self._starts and not self._last and self._end - SMF_HEADER > at:
            gaps.append((at, self._end - SMF_HEADER - at))
            at = self._end - SMF_HEADER
        return found, gaps, at

    def _extent(self, index: int) -> tuple[int, int]:
        """Return the length of a record (0: not a record), and the index of the next header.

        The index is 0 if more data is needed. A record that contains another header has a wrong
        length, or is truncated.
        """
        here, size = self._starts[index], self._lengths[index]
        behind = here + size
        if size > MOST_LENGTH or (behind > self._end and self._last):
            size = 0
        elif behind + SMF_HEADER > self._end and not self._last:
            return 0, 0
        if not size:
            return self._up_to_next(index)
        following = bisect_left(self._starts, behind - RDW_SIZE, lo=index + 1)
        return (size if following == index + 1 else 0), index + 1

    def _up_to_next(self, index: int) -> tuple[int, int]:
        here = self._starts[index]
        if index + 1 < len(self._starts):
            size = self._starts[index + 1] + RDW_SIZE - here
        elif self._last or self._end - here > MOST_LENGTH:
            size = self._end - here
        else:
            return 0, 0
        return (size if size <= _LONGEST else 0), index + 1
