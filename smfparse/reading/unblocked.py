"""Framings of records without blocks: `rdw`, `length` and `none`.

In `rdw`, a record descriptor word, `LL LL S 00`, precedes every segment. In `length`, a 4-byte
length precedes every record. In `none`, no bytes separate the records.
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from itertools import repeat

import numpy as np

from smfparse.reading.evidence import Ends, is_escaped, names_agree
from smfparse.reading.headers import (
    HEADER_END,
    SMF_HEADER,
    are_sound,
    has_flag,
    has_system,
    headers_in,
    implied_length,
    is_mq,
    is_plausible,
    plausible,
)
from smfparse.reading.segments import (
    ALL,
    GOES_ON,
    LEAST_WORD,
    LINE_END,
    MOST_LENGTH,
    NEVER_ON,
    RDW_SIZE,
    WORD,
    Segments,
    Walk,
    with_words,
)
from smfparse.vectors import Bools, Bytes, Ints

_WORD_PAIR = struct.Struct(">II")
_NULL = 0x8000
"""Bit that is on in the RDW of a null segment. The rest of the block is zero."""
_EXTENDED = 1 << 31
"""Bit that is on in the descriptor word of a block that can be longer than 32,760 bytes."""
_MOST_BLOCK = 1 << 24
"""Maximum number of bytes of a block, although an extended descriptor word could contain more."""
_PIECE = 1 << 15
"""Number of bytes searched in one step: about a block."""


class RdwWalk(Walk):
    """`LL LL S 00` before every segment: length, including these 4 bytes, and segment code."""

    def segments(self, buffer: Bytes, at: int, end: int, last: bool, most: int = ALL) -> Segments:
        unpack, view = WORD.unpack_from, buffer.data
        found: list[int] = []
        gaps: list[tuple[int, int]] = []
        add, limit = found.append, end - RDW_SIZE
        broken = False
        for _ in repeat(None, most):
            if at > limit:
                break
            (word,) = unpack(view, at)
            is_word = not word & NEVER_ON and word >= LEAST_WORD
            if not is_word or (word >> 24 in LINE_END and self.ends_line(buffer, at, end)):
                behind = behind_null(buffer, at, end)
                if not behind:
                    behind, broken = self.over_line_end(buffer, at, end, gaps)
                if broken or behind > end or (behind == end and not last):
                    break
                at = behind
            else:
                add(at)
                at += word >> 16
        if at > end:
            at = found.pop()
        return with_words(buffer, found, at, broken, gaps)


def block_length(buffer: Bytes, at: int, later: int | None) -> int:
    """Return the length of the block that starts at `at`; 0: no block starts there.

    later  GOES_ON: the first segment in the block must continue a record; 0: it must not; None: it
           is not checked, because a block is known to start at `at`
    """
    word, inner = _WORD_PAIR.unpack_from(buffer.data, at)
    length: int = word ^ _EXTENDED if word & _EXTENDED else (0 if word & 0xFFFF else word >> 16)
    if (
        not 2 * RDW_SIZE <= length <= _MOST_BLOCK
        or (inner & NEVER_ON & ~_NULL)
        or inner < LEAST_WORD
    ):
        return 0
    if later is None:
        return length
    if inner & GOES_ON != later:
        return 0
    behind, first = at + length, at + RDW_SIZE
    is_null = inner & _NULL and _null_end(buffer, first, behind) == behind
    return length if later or is_null or is_plausible(buffer, first) else 0


def behind_null(buffer: Bytes, at: int, end: int, block_end: int = 0) -> int:
    """Return the place of the next RDW after a null segment and the zeros of its block.

    block_end  end of the block, if known

    The result is `end` if all following bytes are zero, and 0 if no null segment is at `at`. The
    next RDW may itself begin with a zero byte.
    """
    behind = _null_end(buffer, at, end, block_end)
    if not behind or block_end or behind >= end:
        return behind
    first = _first_not_zero(buffer, behind, end)
    if first == end:
        return end
    before = max(first - 1, behind)
    if is_plausible(buffer, before) or block_length(buffer, before, 0):
        return before
    (word,) = WORD.unpack_from(buffer.data, before)
    goes_on = not word & NEVER_ON and word >= LEAST_WORD and word & GOES_ON
    if _null_end(buffer, before, end) or (goes_on and not is_plausible(buffer, first)):
        return before
    (word,) = WORD.unpack_from(buffer.data, first)
    return before if word & NEVER_ON else first


def _null_end(buffer: Bytes, at: int, end: int, block_end: int = 0) -> int:
    """Return the end of a null segment, or of its block if known; 0: not a null segment."""
    (word,) = WORD.unpack_from(buffer.data, at)
    behind: int = block_end or at + (word >> 16)
    is_null = word & NEVER_ON == _NULL and word >= LEAST_WORD and behind >= at + RDW_SIZE
    return 0 if not is_null or buffer[at + RDW_SIZE : min(behind, end)].any() else behind


def _first_not_zero(buffer: Bytes, at: int, end: int) -> int:
    while at < end:
        found = np.flatnonzero(buffer[at : min(at + _PIECE, end)])
        if found.size:
            return at + int(found[0])
        at += _PIECE
    return end


class LengthWalk(Walk):
    """A 4-byte length, which does not include itself, before every record."""

    def segments(self, buffer: Bytes, at: int, end: int, last: bool, most: int = ALL) -> Segments:  # noqa: ARG002
        unpack, view = WORD.unpack_from, buffer.data
        found, sizes, gaps = [], [], list[tuple[int, int]]()
        broken = False
        for _ in repeat(None, most):
            if at + RDW_SIZE > end:
                break
            (size,) = unpack(view, at)
            if not 0 < size <= MOST_LENGTH:
                at, broken = self.over_line_end(buffer, at, end, gaps)
                if broken:
                    break
                continue
            if at + RDW_SIZE + size > end:
                break
            found.append(at)
            sizes.append(size)
            at += RDW_SIZE + size
        places = np.array(found, np.int64)
        length = np.array(sizes, np.int64) + RDW_SIZE
        return Segments(places, length, np.zeros(len(found), np.uint8), places, at, broken, gaps)


_LONGEST = 32_760
"""Maximum bytes of an SMF record, with its RDW."""


class BareWalk(Walk):
    """No bytes between records: a record ends where its last block ends, before the next header.

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

        Such a record contains an FF, and its last block QWHS is not in the right place. A record
        whose QWHS cannot be found is included if no record follows its end, and too few other
        records show that the file has no marks.
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

    A line end may be between the two records.
    """
    behind = np.minimum(behind, end + 1)
    one = buffer[behind] == LINE_END[1]
    two = (buffer[behind] == LINE_END[0]) & (buffer[behind + 1] == LINE_END[1])
    behind = behind + np.where(two, 2, one)
    place = np.minimum(behind, end) - RDW_SIZE
    found: Bools = (behind == end) | (plausible(buffer, place) & are_sound(buffer, place))
    return found


def _own_length(buffer: Bytes, here: int, size: int) -> int:
    """Return the true length of a record of another product that seems to have `size` bytes.

    The excess bytes are MQ records with damaged headers. By its triplets, each MQ record ends at
    the start of the next record. At most one of flag, time and date, and system is damaged in each.
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
        """Return (place, length) of records and of gaps from `at` on, and the end of the last."""
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
