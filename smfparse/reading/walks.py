"""The ways in which a file tells its records apart, and for each a walk from bytes to segments.

z/OS keeps the length of a record in front of it, in the record descriptor word (RDW). A file has
these, or blocks of them, or lengths of another form, or none, by how it was transferred. A walk
gives segments: records or pieces of them, each with the place where its RDW is or would be, 4 bytes
in front of its data, because the offsets in a record count from there.
"""

from __future__ import annotations

import struct
import sys
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from smfparse.reading.headers import (
    SMF_HEADER,
    headers_in,
    plausible,
    told_length,
)
from smfparse.vectors import Bools, Bytes, Ints, gather

RDW_SIZE = 4
WHOLE, FIRST, LAST, MIDDLE = range(4)
"""Segment codes of the RDW."""
ALL = sys.maxsize
"""Steps of a walk that ends with the data."""
_WORD = struct.Struct(">I")
_WORDS = struct.Struct(">II")
_NEVER = 0xFCFF
"""Bits of an RDW that are never on: segment codes are 0 to 3, the last byte is zero."""
_LATER = 0x0200
"""On in the RDW of a segment that goes on with a record: LAST and MIDDLE."""
_NULL = 0x8000
"""On in the RDW of a null segment, behind which the rest of the block is zero."""
_LEAST = RDW_SIZE << 16
"""An RDW below this is shorter than itself."""
_EXTENDED = 1 << 31
"""On in the descriptor word of a block that may be longer than 32,760 bytes."""
_MOST_LENGTH = 0xFFFF
"""A 4-byte length above this is none: no SMF record is longer than 32,756 bytes."""
_MOST_BLOCK = 1 << 24
"""No block is longer, though an extended descriptor word could say so."""
_MOST_IN_BLOCK = 1 << 9
"""Segments that are looked at to tell whether they fill a block."""
_PIECE = 1 << 15
"""Bytes that are searched at once: about a block."""
_LONGEST = 32_760
"""Bytes of the longest SMF record, with its RDW."""
_FTP_HEADER = struct.Struct(">BH")
_END_OF_RECORD, _END_OF_FILE, _RESTART_MARKER = 0x80, 0x40, 0x10
_DESCRIPTORS = frozenset({0x00, 0x80, 0x40, 0xC0, 0x10})
"""Descriptors of FTP's block mode: bits as above. Where data is suspected wrong, it is not used."""
_MOST_MARKER = 64
"""Bytes of a restart marker: a place in a file, in characters."""
_ESCAPE = 0xFF
_MARKS = 3
"""Behind the escape of FTP's record structure: 1 end of record, 2 of file, 3 of both."""


@dataclass(frozen=True)
class Segments:
    """Segments in a buffer, all whole, in order.

    at      int64 (segments,): where the RDW is or would be; the data starts 4 bytes behind
    length  int64 (segments,): bytes of data, and 4
    code    uint8 (segments,): WHOLE, FIRST, LAST or MIDDLE
    place   int64 (segments,): where the file has the segment, in the buffer as it was read
    end     where the walk ended, in the buffer as it was read: behind the last segment
    broken  whether there is something else than a segment at `end`
    gaps    place and length of bytes in between that are in no record
    short   bytes that the last block says that it has behind the end of the file
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
        """Return how many bytes there are from segments on to later ones, or the end, less gaps."""
        gap, size = np.array(sorted(self.gaps), np.int64).reshape(-1, 2).T
        before = np.append(0, np.cumsum(size))
        place = np.append(self.place, self.end)
        at = place - before[np.searchsorted(gap, place)]
        extent: Ints = at[behind] - at[first]
        return extent

    def where(self, keep: slice | Bools | Ints) -> Segments:
        """Return some of the segments, chosen or by index; what else there is to say stays."""
        return replace(
            self,
            at=self.at[keep],
            length=self.length[keep],
            code=self.code[keep],
            place=self.place[keep],
        )


class Walk(ABC):
    """A way in which records are told apart.

    name     what `--framing` calls it
    title    what there is of it in the file
    blind    whether a walk can start anywhere, and finds the next record
    chained  whether one record leads to the next; else each is found by what it looks like
    mapped   whether the walk works in a map of the file: it moves nothing, and needs nothing in
             front of a record to stand for its RDW
    """

    name: str
    title: str
    blind: bool = True
    chained: bool = True
    mapped: bool = True

    @abstractmethod
    def segments(self, buffer: Bytes, at: int, end: int, last: bool, most: int = ALL) -> Segments:
        """Return the segments in buffer[at:end]; a record, or what leads to it, starts at `at`.

        last  whether nothing comes behind `end`; not all have to know
        most  steps that are taken along a chain: then it ends, as if there was no more data
        """

    def begin(self, buffer: Bytes, at: int, least: int) -> int | None:  # noqa: ARG002 - blocks do
        """Return where the walk starts, from `least` on, to find the record whose RDW is `at`."""
        return at if at >= least else None

    def shows(self, buffer: Bytes, found: Segments, start: int, end: int) -> bool:  # noqa: ARG002
        """Whether segments of buffer[start:end], a file, show that the walk is the right one."""
        return True

    def begins(self, buffer: Bytes, place: int, end: int) -> bool:
        """Whether an SMF header stands where a record that begins at `place` has it."""
        low = max(place - RDW_SIZE, 0)
        starts = headers_in(buffer, low, min(end, place + 2 * RDW_SIZE + SMF_HEADER))
        return any(self.begin(buffer, each, place) == place for each in starts.tolist())

    def hides_block(self, buffer: Bytes, at: int) -> bool:  # noqa: ARG002 - blocks do
        """Whether what seems to be a segment, but starts no record, is a block."""
        return False

    def over_line_end(
        self, buffer: Bytes, at: int, end: int, gaps: list[tuple[int, int]]
    ) -> tuple[int, bool]:
        """Step over a line end at `at` if a record begins behind it, and add it to the `gaps`.

        Return where to go on, and whether the walk is broken: it is no line end.
        """
        size = line_end(buffer, at, end)
        if not size or not self.begins(buffer, at + size, end):
            return at, True
        gaps.append((at, size))
        return at + size, False


class RdwWalk(Walk):
    """`LL LL S 00` in front of every segment, LL with these 4 bytes: a download by record."""

    name = "rdw"
    title = "record descriptor words"

    def segments(self, buffer: Bytes, at: int, end: int, last: bool, most: int = ALL) -> Segments:
        unpack, view = _WORD.unpack_from, buffer.data
        found: list[int] = []
        gaps: list[tuple[int, int]] = []
        add, limit = found.append, end - RDW_SIZE
        broken = False
        for _ in repeat(None, most):
            if at > limit:
                break
            (word,) = unpack(view, at)
            if word & _NEVER or word < _LEAST:
                behind = _behind_null(buffer, at, end)
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
        return _segments(buffer, found, at, broken, gaps)


class BdwWalk(Walk):
    """RDWs in blocks with a block descriptor word each, `LL LL 00 00` or extended.

    Until the first block begins it is not known in which one the walk started; so it is looked for
    at every place where a record may start.
    """

    name = "bdw"
    title = "block and record descriptor words"

    def segments(self, buffer: Bytes, at: int, end: int, last: bool, most: int = ALL) -> Segments:
        """Return the segments; gaps, but line ends, are descriptor words that do not fit."""
        unpack, view = _WORD.unpack_from, buffer.data
        found: list[int] = []
        blocks = _Blocks(self, buffer, end, last)
        later = 0
        for _ in repeat(None, most):
            if at + RDW_SIZE > end:
                break
            (word,) = unpack(view, at)
            sound = not word & _NEVER and word >= _LEAST and word & _LATER == later
            if not sound or at + (word >> 16) > blocks.end:
                behind = blocks.step(at, word, later)
                if behind != at:
                    at = behind
                    continue
                if blocks.stopped or blocks.broken:
                    break
            if at + (word >> 16) > end:
                break
            found.append(at)
            later = word << 1 & _LATER
            at += word >> 16
        if blocks.end and at == blocks.start + RDW_SIZE and not blocks.broken:
            at = blocks.start
        run = _segments(buffer, found, at, blocks.broken, blocks.gaps)
        return replace(run, short=max(blocks.end - end, 0) if last and at == end else 0)

    def begin(self, buffer: Bytes, at: int, least: int) -> int | None:
        before = at - RDW_SIZE
        if before >= least and _block_length(buffer, before, 0):
            return before
        return super().begin(buffer, at, least)

    def hides_block(self, buffer: Bytes, at: int) -> bool:
        return bool(_block_length(buffer, at, None))

    def shows(self, buffer: Bytes, found: Segments, start: int, end: int) -> bool:
        """Whether a block descriptor word fits its block: else they may be RDWs alone.

        It does if no segment goes on behind the block, and another block starts there or the file
        ends; or, as damage in the block may hide that, if it is the first word of the file.
        """
        wrong = {place for place, _ in found.gaps}
        apart = np.append(True, found.place[1:] != (found.place + found.length)[:-1])
        for place in (found.place[apart] - RDW_SIZE).tolist():
            length = _block_length(buffer, place, None)
            if length and place not in wrong:
                behind = place + length
                follows = behind + 2 * RDW_SIZE <= end and _block_length(buffer, behind, None)
                if place == start or behind == end or follows:
                    return True
        return False


class LengthWalk(Walk):
    """A 4-byte length, without itself, in front of every record."""

    name = "length"
    title = "4-byte lengths"

    def segments(self, buffer: Bytes, at: int, end: int, last: bool, most: int = ALL) -> Segments:  # noqa: ARG002
        unpack, view = _WORD.unpack_from, buffer.data
        found, sizes, gaps = [], [], list[tuple[int, int]]()
        broken = False
        for _ in repeat(None, most):
            if at + RDW_SIZE > end:
                break
            (size,) = unpack(view, at)
            if not 0 < size <= _MOST_LENGTH:
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


class FtpBlockWalk(Walk):
    """FTP's block mode as it was on the line: descriptor and 2-byte length in front of a block."""

    name = "ftp-block"
    title = "headers of FTP block mode"
    mapped = False

    def segments(self, buffer: Bytes, at: int, end: int, last: bool, most: int = ALL) -> Segments:  # noqa: ARG002
        unpack, view = _FTP_HEADER.unpack_from, buffer.data
        places, sizes, codes, gaps = [], [], [], list[tuple[int, int]]()
        goes_on = broken = False
        for _ in repeat(None, most):
            if at + _FTP_HEADER.size > end:
                break
            descriptor, size = unpack(view, at)
            ends = descriptor & (_END_OF_RECORD | _END_OF_FILE)
            is_marker = descriptor & _RESTART_MARKER
            wrong = size > _MOST_MARKER if is_marker else not (size or ends)
            if wrong or descriptor not in _DESCRIPTORS:
                at, broken = self.over_line_end(buffer, at, end, gaps)
                if broken:
                    break
                continue
            if at + _FTP_HEADER.size + size > end:
                break
            if not is_marker and (size or goes_on):
                places.append(at)
                sizes.append(size)
                codes.append((LAST if ends else MIDDLE) if goes_on else (WHOLE if ends else FIRST))
                goes_on = not ends
            at += _FTP_HEADER.size + size
        place = np.array(places, np.int64)
        length = np.array(sizes, np.int64) + RDW_SIZE
        before = place - (RDW_SIZE - _FTP_HEADER.size)
        return Segments(before, length, np.array(codes, np.uint8), place, at, broken, gaps)

    def begin(self, buffer: Bytes, at: int, least: int) -> int | None:
        return super().begin(buffer, at + RDW_SIZE - _FTP_HEADER.size, least)


class FtpRecordWalk(Walk):
    """FTP's record structure as it was on the line: `FF 01` ends a record, `FF FF` is one FF."""

    name = "ftp-record"
    title = "marks of FTP record structure"
    blind = False
    chained = False
    mapped = False

    def segments(self, buffer: Bytes, at: int, end: int, last: bool, most: int = ALL) -> Segments:  # noqa: ARG002
        """Return the records; in the buffer they are without escapes."""
        data = buffer[at:end]
        escapes = _escapes(data)
        meaning = data[escapes + 1]
        marks = escapes[meaning <= _MARKS]
        twice = escapes[meaning == _ESCAPE]
        wrong = escapes[(meaning > _MARKS) & (meaning < _ESCAPE) | (meaning == 0)]
        start, stop = np.append(0, marks + 2)[:-1], marks
        some = stop > start
        start, stop = start[some], stop[some]
        bad = np.searchsorted(wrong, stop) > np.searchsorted(wrong, start)
        gaps = zip((start[bad] + at).tolist(), (stop[bad] - start[bad]).tolist(), strict=True)
        start, stop = start[~bad], stop[~bad]
        used = int(marks[-1]) + 2 if marks.size else 0
        if twice.size:
            kept = np.ones(used, np.bool_)
            kept[twice[twice < used]] = False
            rest = data[:used][kept]
            data[: rest.size] = rest
        moved = np.searchsorted(twice, start)
        length = stop - start - (np.searchsorted(twice, stop) - moved) + RDW_SIZE
        codes = np.zeros(len(start), np.uint8)
        place = at + start
        return Segments(place - moved - RDW_SIZE, length, codes, place, at + used, gaps=[*gaps])


class BareWalk(Walk):
    """Nothing between the records: one ends where its triplets say and the next header stands."""

    name = "none"
    title = "no lengths"
    chained = False
    mapped = False

    def segments(self, buffer: Bytes, at: int, end: int, last: bool, most: int = ALL) -> Segments:  # noqa: ARG002
        starts = headers_in(buffer, at - RDW_SIZE, end)
        lengths = told_length(buffer, starts)
        found, gaps, used = _Bare(starts.tolist(), lengths.tolist(), end, last).records(at)
        places, length = np.array(found, np.int64).reshape(-1, 2).T
        codes = np.zeros(len(found), np.uint8)
        return Segments(places, length, codes, places + RDW_SIZE, used, gaps=gaps)

    def begin(self, buffer: Bytes, at: int, least: int) -> int | None:
        return super().begin(buffer, at + RDW_SIZE, least)


class _Blocks:
    """The block in which a walk is.

    start    where it starts, with its descriptor word
    end      where it ends; 0: not known
    gaps     place and size of descriptor words that do not fit their block, and of line ends
    stopped  whether what follows is behind the data
    broken   whether neither a block nor a segment starts where one should
    """

    def __init__(self, walk: Walk, buffer: Bytes, data_end: int, last: bool) -> None:
        self.start = self.end = 0
        self.gaps: list[tuple[int, int]] = []
        self.stopped = self.broken = False
        self._walk = walk
        self._buffer = buffer
        self._data_end = data_end
        self._last = last

    def step(self, at: int, word: int, later: int) -> int:
        """Step over what is at `at` if it is a descriptor word or a null segment; return to where.

        That is `at` where it may be a segment, and where the walk has to end.
        """
        known = bool(self.end) and at == self.end
        seen = at + 2 * RDW_SIZE + (0 if known else SMF_HEADER)
        if seen > self._data_end and not self._last:
            self.stopped = True
            return at
        length = _block_length(self._buffer, at, None if known else later)
        is_segment = not word & _NEVER and word >= _LEAST
        if is_segment and not length and self._leaves_block(at + (word >> 16)):
            self.broken = True
            return at
        if self.end and (length or is_segment):
            if not known:
                self.gaps.append((self.start, RDW_SIZE))
            self.end = 0
        if length:
            self.start, self.end = at, at + length
            return at + RDW_SIZE
        return self._over_other(at, word, later)

    def _over_other(self, at: int, word: int, later: int) -> int:
        """Step over a null segment or a line end; else see whether a segment can be there."""
        behind = _behind_null(self._buffer, at, self._data_end, self.end)
        if behind:
            is_last = behind == self._data_end and not self._last
            self.stopped = behind > self._data_end or is_last
            return at if self.stopped else behind
        if word & _NEVER or word < _LEAST:
            at, self.broken = self._walk.over_line_end(self._buffer, at, self._data_end, self.gaps)
        elif not later:
            self.broken = not self._is_loose(at, at + (word >> 16))
        return at

    def _leaves_block(self, end: int) -> bool:
        """Whether a segment up to `end` goes on behind its block, where another block is.

        Then its length is wrong, even if it leads to where another segment starts. As what is in a
        record may look like a descriptor word, segments have to fill that block.
        """
        start = self.end
        if not start or end <= start or start + 2 * RDW_SIZE > self._data_end:
            return False
        behind = start + _block_length(self._buffer, start, None)
        if behind == start or behind > self._data_end:
            return False
        inner = WALKS["rdw"].segments(self._buffer, start + RDW_SIZE, behind, True, _MOST_IN_BLOCK)
        return not inner.broken and inner.end == behind

    def _is_loose(self, at: int, end: int) -> bool:
        """Whether what seems to be a record up to `end`, in no block, is one and no block itself.

        A block is taken for a record if the first RDW in it is wrong; then no header is there. Or
        if that is lost; then it ends that much earlier, and the other RDWs in it lead there.
        """
        if end > self._data_end or end - at < SMF_HEADER:
            return True
        if not plausible(self._buffer, np.array([at]))[0]:
            return False
        behind = end - RDW_SIZE
        if end + RDW_SIZE > self._data_end or not _block_length(self._buffer, behind, None):
            return True
        inner = headers_in(self._buffer, at + RDW_SIZE, behind)[:1].tolist()
        found = [WALKS["rdw"].segments(self._buffer, each, behind, True) for each in inner]
        return not any(each.end == behind and not each.broken for each in found)


class _Bare:
    """Records that are told apart only by their headers and by what they say of themselves.

    starts   where there are headers: a record each, or something in a record that looks like one
    lengths  bytes of each by its triplets, 0: not known
    """

    def __init__(self, starts: list[int], lengths: list[int], end: int, last: bool) -> None:
        self._starts = starts
        self._lengths = lengths
        self._end = end
        self._last = last

    def records(self, at: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]], int]:
        """Return start and length of the records from `at` on, the gaps, and where they end."""
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
        """Return the length of a record, 0 if it is none, and which header is the next.

        That is 0 where more has to be seen to tell.
        """
        here, size = self._starts[index], self._lengths[index]
        behind = here + size
        if size > _MOST_LENGTH or (behind > self._end and self._last):
            size = 0
        elif behind + SMF_HEADER > self._end and not self._last:
            return 0, 0
        if not size:
            return self._up_to_next(index)
        following = bisect_left(self._starts, behind - RDW_SIZE, lo=index + 1)
        if not self._leads_on(index):
            for later in range(index + 1, following):
                if self._leads_on(later):
                    return 0, later
        return size, following

    def _up_to_next(self, index: int) -> tuple[int, int]:
        here = self._starts[index]
        if index + 1 < len(self._starts):
            size = self._starts[index + 1] + RDW_SIZE - here
        elif self._last or self._end - here > _MOST_LENGTH:
            size = self._end - here
        else:
            return 0, 0
        return (size if size <= _LONGEST else 0), index + 1

    def _leads_on(self, index: int) -> bool:
        """Whether a record ends where another begins, or with the file."""
        behind = self._starts[index] + self._lengths[index]
        place = bisect_left(self._starts, behind - RDW_SIZE)
        exact = place < len(self._starts) and self._starts[place] == behind - RDW_SIZE
        return exact or (self._last and behind == self._end)


def _block_length(buffer: Bytes, at: int, later: int | None) -> int:
    """Return the length of the block that starts at `at`, 0 if none does.

    later  what the first RDW in it has to say of whether it goes on with a record; None: that a
           block starts here is known
    """
    word, inner = _WORDS.unpack_from(buffer.data, at)
    length: int = word ^ _EXTENDED if word & _EXTENDED else (0 if word & 0xFFFF else word >> 16)
    if not 2 * RDW_SIZE <= length <= _MOST_BLOCK or (inner & _NEVER & ~_NULL) or inner < _LEAST:
        return 0
    if later is None:
        return length
    if inner & _LATER != later:
        return 0
    start = np.array([at + RDW_SIZE])
    return length if later or plausible(buffer, start)[0] else 0


def line_end(buffer: Bytes, at: int, end: int) -> int:
    """Return the bytes of a line end of a text file that is at `at`, 0 if there is none."""
    data = buffer[at : min(at + 2, end)].tobytes()
    return 2 if data == b"\r\n" else int(data[:1] == b"\n")


def _escapes(data: Bytes) -> Ints:
    """Return where there is an escape with what it means behind it, in FTP's record structure.

    Every other one of adjacent escapes is what the one before it means.
    """
    found = np.flatnonzero(data == _ESCAPE)
    number = np.arange(found.size)
    begins = np.append(True, np.diff(found) != 1)[: found.size]
    run = np.maximum.accumulate(np.where(begins, number, 0))
    escapes = found[(number - run) % 2 == 0]
    seen: Ints = escapes[escapes + 1 < data.size]
    return seen


def _segments(
    buffer: Bytes, found: list[int], end: int, broken: bool, gaps: list[tuple[int, int]]
) -> Segments:
    """Return the segments whose RDWs are at the places `found`."""
    places = np.array(found, np.int64)
    words = gather(buffer, places, RDW_SIZE).view(">u4")[:, 0]
    code = (words >> 8 & MIDDLE).astype(np.uint8)
    return Segments(places, (words >> 16).astype(np.int64), code, places, end, broken, gaps)


def _behind_null(buffer: Bytes, at: int, end: int, block_end: int = 0) -> int:
    """Return where the next RDW is behind a null segment and the zeros of its block.

    block_end  where the block ends, if that is known

    That is `end` where all the rest is zero, and 0 where this is no null segment. The length behind
    it may begin with a zero byte itself.
    """
    (word,) = _WORD.unpack_from(buffer.data, at)
    behind = block_end or at + (word >> 16)
    is_null = word & _NEVER == _NULL and behind >= at + RDW_SIZE
    if not is_null or buffer[at + RDW_SIZE : min(behind, end)].any():
        return 0
    if block_end or behind >= end:
        return behind
    first = _not_zero(buffer, behind, end)
    if first == end:
        return end
    before = max(first - 1, behind)
    if plausible(buffer, np.array([before]))[0] or _block_length(buffer, before, 0):
        return before
    (word,) = _WORD.unpack_from(buffer.data, first)
    return before if word & _NEVER or word < _LEAST else first


def _not_zero(buffer: Bytes, at: int, end: int) -> int:
    """Return where the first byte is, from `at` on, that is not zero; `end`: nowhere."""
    while at < end:
        found = np.flatnonzero(buffer[at : min(at + _PIECE, end)])
        if found.size:
            return at + int(found[0])
        at += _PIECE
    return end


WALKS: dict[str, Walk] = {
    each.name: each
    for each in (
        BdwWalk(),
        RdwWalk(),
        LengthWalk(),
        FtpBlockWalk(),
        FtpRecordWalk(),
        BareWalk(),
    )
}
"""Every walk by name; of two that fit a file alike the first is meant."""
