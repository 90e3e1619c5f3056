"""Segments, found by a walk through a buffer, and the records that consist of segments.

z/OS stores the length of a record before it, in the record descriptor word (RDW). Depending on the
transfer, a file contains RDWs, RDWs in blocks, other lengths, or no lengths. A walk returns a run
of segments: records or pieces of records. The place of a segment is 4 bytes before its data, even
if the file contains no RDW, because offsets in a record count from there. The segments of a spanned
record are joined in place.
"""

from __future__ import annotations

import struct
import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from smfparse.reading.headers import EXTENDED_END, SMF_HEADER, is_header, kinds_of
from smfparse.vectors import Bools, Bytes, Ints, gather

RDW_SIZE = 4
WHOLE, FIRST, LAST, MIDDLE = range(4)
"""Segment codes in the RDW."""
ALL = sys.maxsize
"""Number of steps of a walk that ends only with the data."""
WORD = struct.Struct(">I")
NEVER_ON = 0xFCFF
"""Bits of an RDW that are always off: segment codes are 0 to 3, and the last byte is zero."""
GOES_ON = 0x0200
"""The RDW bit of segments that continue a record: LAST and MIDDLE."""
LEAST_WORD = RDW_SIZE << 16
"""Minimum value of an RDW: the length in it includes the RDW itself."""
LINE_END = b"\r\n"
"""The two bytes with which a line end of a text file can start."""
MOST_LENGTH = 0xFFFF
"""Maximum value of a 4-byte length; the longest SMF record has only 32,756 bytes."""


@dataclass(frozen=True)
class Segments:
    """Segments in a buffer, each complete, in order.

    at      int64 (segments,): place of the RDW, real or virtual, in the buffer after the walk; the
            data starts 4 bytes later
    length  int64 (segments,): bytes of data, plus 4 for the RDW
    code    uint8 (segments,): WHOLE, FIRST, LAST or MIDDLE
    place   int64 (segments,): place of the segment in the buffer before the walk moved any bytes
    end     end of the walk, as a place in that buffer: after the last segment
    broken  whether the data at `end` is not a segment
    gaps    place and length of each gap: bytes between segments that are in no record
    short   number of missing bytes of the last block or record, which ends after the end of the
            file
    """

    at: Ints
    length: Ints
    code: NDArray[np.uint8]
    place: Ints
    end: int
    broken: bool = False
    gaps: Sequence[tuple[int, int]] = ()
    short: int = 0

    def extent(self, first: Ints, behind: Ints) -> Ints:
        """Return the number of bytes from segment `first` to segment `behind`, without gaps.

        The index after the last segment means the end of the walk.
        """
        gap, size = np.array(sorted(self.gaps), np.int64).reshape(-1, 2).T
        before = np.append(0, np.cumsum(size))
        place = np.append(self.place, self.end)
        at = place - before[np.searchsorted(gap, place)]
        extent: Ints = at[behind] - at[first]
        return extent

    def range_of(self, first: Ints, behind: Ints) -> Ints:
        """Return the number of bytes of segments `first` to `behind` - 1, gaps included."""
        final = behind - 1
        ends = self.at[final] + self.length[final] - self.place[first]
        found: Ints = np.maximum(self.extent(first, behind), ends)
        return found

    def sizes(self, some: Bools) -> list[tuple[int, int]]:
        """Return place and number of data bytes of the segments for which `some` is true."""
        sizes = self.length[some] - RDW_SIZE
        return [*zip(self.place[some].tolist(), sizes.tolist(), strict=True)]

    def where(self, keep: slice | Bools | Ints) -> Segments:
        """Return some of the segments, by mask or index; the end and the gaps do not change."""
        some = self.at[keep], self.length[keep], self.code[keep], self.place[keep]
        return Segments(*some, self.end, self.broken, self.gaps, self.short)

    def upto(self, count: int, end: int) -> Segments:
        """Return the first `count` segments, with `end` as the end of the walk."""
        gaps = [gap for gap in self.gaps if gap[0] < end]
        some = self.at[:count], self.length[:count], self.code[:count], self.place[:count]
        return Segments(*some, end, gaps=gaps)


def last_record(code: NDArray[np.uint8]) -> tuple[int, int]:
    """Return the index of the first segment of the last complete record, and the index after it.

    Consecutive segments without a first segment count as one record.
    """
    if code.size and code[-1] == WHOLE:
        return code.size - 1, code.size
    ends = np.flatnonzero((code == WHOLE) | (code == LAST))
    if not ends.size:
        return 0, 0
    count = int(ends[-1]) + 1
    before = int(ends[-2]) + 1 if ends.size > 1 else 0
    heads = np.flatnonzero(code[before:count] <= FIRST)
    return before + (int(heads[-1]) if heads.size else 0), count


def last_begun(code: NDArray[np.uint8]) -> tuple[int, int]:
    """Return the same as `last_record`, for the last record that has a first segment, if any."""
    head, count = last_record(code)
    begun = np.flatnonzero(code[:head] <= FIRST)
    if not begun.size or code[head] <= FIRST:
        return head, count
    head = int(begun[-1])
    ends = (code[head:] == WHOLE) | (code[head:] == LAST)
    return head, head + int(np.argmax(ends)) + 1


class Walk(ABC):
    """Finds the records of a file in one framing; `FRAMINGS` contains the name of the framing.

    blind    whether a walk can start anywhere, and then finds the next record
    chained  whether the length of a record leads to the next; if not, headers show the records
    marked   whether the file has separating bytes around each record; otherwise a gap shows that
             the framing is wrong
    mapped   whether the walk works on a mapped file: it moves no bytes, and requires no bytes for a
             virtual RDW before a record
    escaped  whether records contain escapes, which the walk removes by moving the following bytes
    """

    blind: bool = True
    chained: bool = True
    marked: bool = True
    mapped: bool = True
    escaped: bool = False

    @abstractmethod
    def segments(self, buffer: Bytes, at: int, end: int, last: bool, most: int = ALL) -> Segments:
        """Return the segments in buffer[at:end]; a record, or its descriptor words, starts at `at`.

        last  whether no data follows `end`; some walks ignore it
        most  maximum steps along a chain; the walk then ends as if the data ended
        """

    def begin(self, buffer: Bytes, at: int, least: int) -> int | None:  # noqa: ARG002 - walks of blocks read it
        """Return where a walk must start to find the record with the RDW at `at`.

        None: such a start would be before `least`.
        """
        return at if at >= least else None

    def rest(self, run: Segments) -> int:
        """Return the number of segments of a run after which another walk can continue.

        0: another walk must read all of them again.
        """
        return last_record(run.code)[1]

    def in_front(self, buffer: Bytes, run: Segments, count: int, low: int) -> Segments:
        """Return the first `count` segments of a run that starts at `low`.

        The result ends before the descriptor words of the next segment.
        """
        if count == run.code.size:
            return run.upto(count, run.end)
        return run.upto(count, self.again(buffer, run, count, low))

    def again(self, buffer: Bytes, run: Segments, index: int, low: int) -> int:
        """Return where a walk must start to find segment `index` of a run from `low` again."""
        behind = run.at[index - 1] + run.length[index - 1] if index else low
        return cast("int", self.begin(buffer, int(run.at[index]), int(behind)))

    def shows(self, buffer: Bytes, found: Segments, start: int, end: int) -> bool:  # noqa: ARG002
        """Whether the segments `found` in buffer[start:end] show that a file has this framing."""
        return True

    def suits(self, buffer: Bytes, start: int, end: int) -> bool:  # noqa: ARG002
        """Whether all data in buffer[start:end], the start of a file, also fits this framing."""
        return True

    def may_show(self, buffer: Bytes, at: int, end: int, most: int, least: int) -> bool:  # noqa: ARG002
        """Test quickly whether `least` records, in up to `most` segments, may show the framing."""
        return True

    def asked(self) -> Walk:
        """Return the walk that is used if the user specifies this framing."""
        return self

    def are_shifted(
        self,
        buffer: Bytes,  # noqa: ARG002
        found: Segments,
        start: int,  # noqa: ARG002
        end: int,  # noqa: ARG002
        last: bool,  # noqa: ARG002
    ) -> Bools:
        """Return which records of buffer[start:end] may contain bytes of another framing."""
        return np.zeros(found.code.size, np.bool_)

    def begins(self, buffer: Bytes, place: int, end: int) -> bool:
        """Whether an SMF header is in the right position for a record that begins at `place`."""
        low, high = max(place - RDW_SIZE, 0), min(end - SMF_HEADER, place + 2 * RDW_SIZE)
        return any(
            is_header(buffer, at)
            for at in range(low, high + 1)
            if self.begin(buffer, at, place) == place
        )

    def hides_block(self, buffer: Bytes, at: int) -> bool:  # noqa: ARG002 - walks of blocks read it
        """Whether a block starts at `at`, where a segment without an SMF header was found."""
        return False

    def over_line_end(
        self, buffer: Bytes, at: int, end: int, gaps: list[tuple[int, int]]
    ) -> tuple[int, bool]:
        """Step over a line end at `at` if a record begins after it, and add it to the `gaps`.

        Return where to continue, and whether the walk is broken because no line end is there.
        """
        size = self.ends_line(buffer, at, end)
        if size:
            gaps.append((at, size))
        return at + size, not size

    def ends_line(self, buffer: Bytes, at: int, end: int) -> int:
        """Return the bytes of a line end at `at`; 0: no line end, or no record begins after it."""
        size = line_end(buffer, at, end)
        return size if size and self.begins(buffer, at + size, end) else 0


def line_end(buffer: Bytes, at: int, end: int) -> int:
    """Return the number of bytes of a line end of a text file at `at`; 0: none."""
    data = buffer[at : min(at + 2, end)].tobytes()
    return 2 if data == b"\r\n" else int(data[:1] == b"\n")


def with_words(
    buffer: Bytes, found: list[int], end: int, broken: bool, gaps: list[tuple[int, int]]
) -> Segments:
    """Return the segments whose RDWs are at the places `found`."""
    places = np.array(found, np.int64)
    words = gather(buffer, places, RDW_SIZE).view(">u4")[:, 0]
    code = (words >> 8 & MIDDLE).astype(np.uint8)
    return Segments(places, (words >> 16).astype(np.int64), code, places, end, broken, gaps)


class Spans(NamedTuple):
    """Records in a buffer, each contiguous.

    start   int64 (records,): place of the RDW, real or virtual
    length  int64 (records,): bytes of the record, RDW included
    place   int64 (records,): place of the record in the buffer before any bytes were moved
    size    int64 (records,): bytes from `place` to the end of the record, before the move
    used    place in the buffer after the last used byte
    lost    place, size and reason of spanned records with a missing segment
    first   int64 (records,): index of the first segment of each record
    final   int64 (records,): index of the last segment
    """

    start: Ints
    length: Ints
    place: Ints
    size: Ints
    used: int
    lost: list[tuple[int, int, str]]
    first: Ints
    final: Ints


def records(
    buffer: Bytes, found: Segments, last: bool, kinds: Ints | None, max_spanned: int
) -> Spans:
    """Return the records of segments; spanned records are made contiguous.

    last         whether no data follows the segments; otherwise an incomplete last record is not
                 used yet
    kinds        kinds of records (as in `kinds_of`) that are made contiguous; None: all
    max_spanned  maximum bytes of a record; a longer one is lost
    """
    if not found.code.any():
        return _whole(found)
    begins = found.code <= FIRST
    goes_on = (found.code == FIRST) | (found.code == MIDDLE)
    first = np.flatnonzero(begins | ~np.append(False, goes_on[:-1]))
    final = np.append(first[1:], len(begins)) - 1
    length = np.add.reduceat(found.length - RDW_SIZE, first) + RDW_SIZE
    size = found.extent(first, final + 1)
    ranges = found.range_of(first, final + 1)
    good = begins[first] & ~goes_on[final] & (size <= max_spanned)
    end = found.end
    pending = begins[first[-1]] and goes_on[final[-1]]
    if pending and size[-1] <= max_spanned and not last:
        end = int(found.place[first[-1]])
        first, final, length, good = first[:-1], final[:-1], length[:-1], good[:-1]
    lost = [
        (
            int(found.place[first[index]]),
            int(ranges[index]),
            _why(
                bool(begins[first[index]]),
                int(size[index]) > max_spanned,
                last and int(final[index]) + 1 == len(begins),
                max_spanned,
            ),
        )
        for index in np.flatnonzero(~good).tolist()
    ]
    first, final, size = first[good], final[good], ranges[: len(good)][good]
    start = _joined(buffer, found, first, final, kinds)
    return Spans(start, length[good], found.place[first], size, end, lost, first, final)


def _whole(found: Segments) -> Spans:
    """Return the records of segments that are one complete record each."""
    every = np.arange(found.at.size)
    return Spans(found.at, found.length, found.place, found.length, found.end, [], every, every)


def _why(has_first: bool, is_long: bool, is_cut: bool, max_spanned: int) -> str:
    if not has_first:
        return "spanned record lost: a later segment without the first segment"
    if is_long:
        return f"spanned record lost: longer than {max_spanned} bytes"
    if is_cut:
        return "the file is truncated: the last segment of a spanned record is missing"
    return "spanned record lost: its last segment is missing"


def _joined(buffer: Bytes, found: Segments, first: Ints, final: Ints, kinds: Ints | None) -> Ints:
    """Make the records of the segments `first` to `final` contiguous; return their starts.

    Of two segments, the shorter is moved to the longer. Three or more are moved to the last one.
    """
    view, start = memoryview(buffer.data), found.at[first]
    several: Bools = final > first
    if kinds is not None:
        whole_header = found.length[first] >= EXTENDED_END
        several &= np.isin(kinds_of(buffer, start), kinds) | ~whole_header
    pairs = np.flatnonzero(several & (final == first + 1))
    head, tail = found.length[first[pairs]], found.length[final[pairs]] - RDW_SIZE
    behind, data = start[pairs] + head, found.at[final[pairs]] + RDW_SIZE
    move(view, data, behind, np.where(head > tail, tail, 0))
    move(view, start[pairs], data - head, np.where(head > tail, 0, head))
    start[pairs] = np.where(head > tail, start[pairs], data - head)
    for index in np.flatnonzero(several & (final > first + 1)):
        pieces = slice(first[index], final[index] + 1)
        start[index] = _pushed(view, found.at[pieces].tolist(), found.length[pieces].tolist())
    return start


def move(view: memoryview, source: Ints, target: Ints, size: Ints) -> None:
    """Copy bytes in a buffer: for each index, `size` bytes from `source` to `target`."""
    some = size > 0
    moves = source[some], target[some], size[some]
    for old, new, length in zip(*(each.tolist() for each in moves), strict=True):
        view[new : new + length] = view[old : old + length]


def _pushed(view: memoryview, places: list[int], lengths: list[int]) -> int:
    """Move the RDW and data of pieces to the last piece, without gaps; return the new start."""
    at = places[-1] + RDW_SIZE
    for number in range(len(places) - 2, -1, -1):
        skip = RDW_SIZE if number else 0
        size = lengths[number] - skip
        piece = places[number] + skip
        view[at - size : at] = view[piece : piece + size]
        at -= size
    return at
