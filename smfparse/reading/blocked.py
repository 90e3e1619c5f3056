"""Framing `bdw`: RDWs in blocks, each with a block descriptor word, `LL LL 00 00` or extended."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import repeat

import numpy as np

from smfparse.reading.headers import SMF_HEADER, headers_in, is_header, is_plausible
from smfparse.reading.segments import (
    ALL,
    FIRST,
    GOES_ON,
    LEAST_WORD,
    LINE_END,
    MIDDLE,
    NEVER_ON,
    RDW_SIZE,
    WORD,
    Segments,
    Walk,
    with_words,
)
from smfparse.reading.unblocked import RdwWalk, behind_null, block_length
from smfparse.vectors import Bytes

_MOST_IN_BLOCK = 1 << 9
"""Maximum number of segments that are checked to find whether segments fill a block."""
_LONG_BLOCK = 1 << 16
"""Minimum bytes of a long block; usual blocks have at most 32,760 bytes."""
_RDWS = RdwWalk()


class BdwWalk(Walk):
    """RDWs in blocks with a block descriptor word each, `LL LL 00 00` or extended.

    A walk can start in the middle of a block. So the first block is searched at every place where a
    record can start.
    """

    def segments(self, buffer: Bytes, at: int, end: int, last: bool, most: int = ALL) -> Segments:
        """Return the segments; gaps are line ends, or descriptor words with a wrong length."""
        unpack, view = WORD.unpack_from, buffer.data
        found: list[int] = []
        blocks = _PhysicalBlock(self, buffer, end, last)
        later = 0
        for _ in repeat(None, most):
            if at + RDW_SIZE > end:
                break
            (word,) = unpack(view, at)
            sound = not word & NEVER_ON and word >= LEAST_WORD and word & GOES_ON == later
            wrong = word >> 24 in LINE_END and self.ends_line(buffer, at, end)
            if wrong or not sound or at + (word >> 16) > blocks.end:
                behind = blocks.step(at, word, later)
                if behind != at:
                    at = behind
                    continue
                if blocks.stopped or blocks.broken:
                    break
            if at + (word >> 16) > end:
                break
            found.append(at)
            later = word << 1 & GOES_ON
            at += word >> 16
        if blocks.end and at == blocks.start + RDW_SIZE and not blocks.broken:
            at = blocks.start
        run = with_words(buffer, found, at, blocks.broken, blocks.gaps)
        return replace(run, short=max(blocks.end - end, 0) if last and at == end else 0)

    def begin(self, buffer: Bytes, at: int, least: int) -> int | None:
        before = at - RDW_SIZE
        if before >= least and block_length(buffer, before, 0):
            return before
        return super().begin(buffer, at, least)

    def rest(self, run: Segments) -> int:
        """Return the number of segments before the last block that begins with a record.

        If blocks are long, the next walk continues inside a block.
        """
        apart = run.place[1:] != (run.place + run.length)[:-1]
        begins = np.flatnonzero(apart & (run.code[1:] <= FIRST))
        if begins.size:
            return int(begins[-1]) + 1
        is_long = run.code.size and run.end - int(run.place[0]) > _LONG_BLOCK
        return super().rest(run) if is_long else 0

    def hides_block(self, buffer: Bytes, at: int) -> bool:
        return bool(block_length(buffer, at, None))

    def shows(self, buffer: Bytes, found: Segments, start: int, end: int) -> bool:
        """Whether the length in a block descriptor word is right; otherwise all words may be RDWs.

        The length is right if no segment continues after the block, and the next block starts there
        or the data ends there. At the start of the file, any length counts as right, because damage
        may be in the first block. Line ends in a block add to its length.
        """
        wrong = {place for place, _ in found.gaps}
        line_ends = [gap for gap in found.gaps if gap[1] < RDW_SIZE]
        apart = np.append(True, found.place[1:] != (found.place + found.length)[:-1])
        for place in (found.place[apart] - RDW_SIZE).tolist():
            length = block_length(buffer, place, None)
            more = sum(size for at, size in line_ends if place < at < place + length)
            if length and (more or place not in wrong):
                behind = place + length + more
                room = end - behind
                follows = room >= 2 * RDW_SIZE and block_length(buffer, behind, None)
                if place == start or 0 <= room < 2 * RDW_SIZE or follows:
                    return True
        return False

    def may_show(self, buffer: Bytes, at: int, end: int, most: int, least: int) -> bool:
        """Whether a block may start at a segment, or segments are not contiguous.

        Otherwise this walk finds no block, and the same segments as RdwWalk.
        """
        run = _RDWS.segments(buffer, at, end, False, most)
        few = run.code.size == most and np.count_nonzero(run.code <= FIRST) < least
        if run.broken or run.end - at != run.length.sum() or few:
            return True
        later = [0, *np.where((run.code == FIRST) | (run.code == MIDDLE), GOES_ON, 0).tolist()]
        return any(map(partial(block_length, buffer), [*run.at.tolist(), run.end], later))


class _PhysicalBlock:
    """The block that contains the current place of a walk.

    start    start of the block, with its descriptor word
    end      end of the block; 0: unknown
    gaps     place and size of descriptor words with a wrong length, and of line ends
    stopped  whether the next bytes are not in the buffer yet
    broken   whether a block or segment should start at the current place, but does not
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
        """Step over a descriptor word, null segment or line end at `at`; return the next place.

        The next place is `at` if a segment may be at `at`, or if the walk must end.
        """
        if word >> 24 in LINE_END:
            behind, is_none = self._walk.over_line_end(self._buffer, at, self._data_end, self.gaps)
            if not is_none:
                return behind
        known = bool(self.end) and at == self.end
        seen = at + 2 * RDW_SIZE + (0 if known else SMF_HEADER)
        if seen > self._data_end and not self._last:
            self.stopped = True
            return at
        length = block_length(self._buffer, at, None if known else later)
        is_segment = not word & NEVER_ON and word >= LEAST_WORD
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
        """Step over a null segment; otherwise check whether a segment can be at `at`."""
        behind = behind_null(self._buffer, at, self._data_end, self.end)
        if behind:
            is_last = behind == self._data_end and not self._last
            self.stopped = behind > self._data_end or is_last
            return at if self.stopped else behind
        if word & NEVER_ON or word < LEAST_WORD:
            self.broken = True
        elif not later:
            self.broken = not self._is_loose(at, at + (word >> 16))
        return at

    def _leaves_block(self, end: int) -> bool:
        """Whether a segment up to `end` extends beyond its block, and another block follows.

        The length of such a segment is wrong, even if another segment starts at `end`. Bytes of a
        record can look like a descriptor word, so segments must fill the following block.
        """
        start = self.end
        if not start or end <= start or start + 2 * RDW_SIZE > self._data_end:
            return False
        behind = start + block_length(self._buffer, start, None)
        if behind == start or behind > self._data_end:
            return False
        inner = _RDWS.segments(self._buffer, start + RDW_SIZE, behind, True, _MOST_IN_BLOCK)
        return not inner.broken and inner.end == behind

    def _is_loose(self, at: int, end: int) -> bool:
        """Whether a possible record up to `end`, outside of blocks, is a record and not a block.

        A block can look like a record in two cases. If its first RDW is wrong, no header follows
        the block descriptor word, or a header follows the wrong RDW. If its first RDW is lost, the
        other segments of the block and the start of the next block meet 4 bytes before `end`.
        """
        if end > self._data_end or end - at < SMF_HEADER:
            return True
        if not is_plausible(self._buffer, at) or is_header(self._buffer, at + RDW_SIZE):
            return False
        behind = end - RDW_SIZE
        if end + RDW_SIZE > self._data_end or not block_length(self._buffer, behind, None):
            return True
        inner = headers_in(self._buffer, at + RDW_SIZE, behind)[:1].tolist()
        found = [_RDWS.segments(self._buffer, each, behind, True) for each in inner]
        return not any(each.end == behind and not each.broken for each in found)
