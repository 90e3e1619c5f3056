"""Framing `rdw`: a record descriptor word, `LL LL S 00`, before every segment."""

from __future__ import annotations

import struct
from itertools import repeat

import numpy as np

from smfparse.reading.headers import is_plausible
from smfparse.reading.segments import (
    ALL,
    GOES_ON,
    LEAST_WORD,
    LINE_END,
    NEVER_ON,
    RDW_SIZE,
    WORD,
    Segments,
    Walk,
    with_words,
)
from smfparse.vectors import Bytes

_WORD_PAIR = struct.Struct(">II")
_NULL = 0x8000
"""Bit that is on in the RDW of a null segment; the rest of its block is zero."""
_EXTENDED = 1 << 31
"""Bit that is on in the descriptor word of a block that can be longer than 32,760 bytes."""
_MOST_BLOCK = 1 << 24
"""Maximum number of bytes of a block, although an extended descriptor word could contain more."""
_PIECE = 1 << 15
"""Number of bytes searched in one step: about a block."""


class RdwWalk(Walk):
    """`LL LL S 00` before every segment: the length, including these 4 bytes, and segment code."""

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

    later  whether the first segment in the block must continue a record (True) or must not (False);
           None: this is not checked, because a block is known to start at `at`
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

    The result is `end` if all following bytes are zero, and 0 if the segment is not a null segment.
    The next RDW may itself begin with a zero byte.
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
