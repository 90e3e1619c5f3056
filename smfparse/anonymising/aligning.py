"""The places in a file of the bytes of records, with bytes of the framing between them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from smfparse.reading.chunks import Chunk
from smfparse.reading.segments import RDW_SIZE
from smfparse.vectors import Bytes, Ints

_TWICE = 0xFF
"""Byte that is doubled in the records of files with FTP record structure."""


class InFile(NamedTuple):
    """The places in a file of the bytes of a record after its descriptor word.

    start, end  place of the first byte, and place after the last byte
    pieces      places of all bytes: a slice of consecutive places, or int64 (bytes,)
    """

    start: int
    end: int
    pieces: slice | Ints

    def shifted(self, low: int) -> slice | Ints:
        """Return the places in a buffer that begins at byte `low` of the file."""
        if isinstance(self.pieces, slice):
            return slice(self.start - low, self.end - low)
        return self.pieces - low


def bytes_in_file(chunk: Chunk) -> Iterator[InFile]:
    """Yield the places of the records of a chunk."""
    if chunk.pieces is None:
        yield from _escaped(chunk)
        return
    found = chunk.pieces
    first, final, at, size = (
        each.tolist() for each in (found.first, found.final, found.at, found.size)
    )
    for begin, last in zip(first, final, strict=True):
        start, end = at[begin], at[last] + size[last]
        if begin == last:
            yield InFile(start, end, slice(start, end))
        else:
            pieces = range(begin, last + 1)
            every = [np.arange(at[each], at[each] + size[each]) for each in pieces]
            yield InFile(start, end, np.concatenate(every))


def _escaped(chunk: Chunk) -> Iterator[InFile]:
    places = zip(
        *(each.tolist() for each in (chunk.start, chunk.length, chunk.offset)), strict=True
    )
    for start, length, offset in places:
        body: Bytes = chunk.buffer[start + RDW_SIZE : start + length]
        twice = body == _TWICE
        every = offset + np.arange(body.size) + np.cumsum(twice) - twice
        yield InFile(int(every[0]), int(every[-1]) + 1, every)
