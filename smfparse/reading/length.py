"""Framing `length`: a 4-byte length before every record."""

from __future__ import annotations

from itertools import repeat

import numpy as np

from smfparse.reading.segments import ALL, MOST_LENGTH, RDW_SIZE, WORD, Segments, Walk
from smfparse.vectors import Bytes


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
