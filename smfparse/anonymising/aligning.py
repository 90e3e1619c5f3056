"""The places of the bytes of records in a file: the bytes of its framing can be between them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from smfparse.reading.chunks import Chunk
from smfparse.reading.segments import RDW_SIZE
from smfparse.vectors import Bytes, Ints

_TWICE = 0xFF
"""The byte that is doubled in a file with FTP record structure."""


class InFile(NamedTuple):
    """The places in a file of the bytes of a record after its descriptor word.

    start, end  place of the first byte, and place after the last byte
    pieces      the places: a slice of consecutive ones, or int64 (bytes,)
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
