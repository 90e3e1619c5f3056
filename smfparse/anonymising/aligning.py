"""Where the bytes of a record are in its file, whatever the framing put between them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from smfparse.reading import RDW_SIZE, Chunk
from smfparse.vectors import Bytes, Ints

_TWICE = 0xFF
"""What is twice in a file of FTP's record structure."""


def bytes_in_file(chunk: Chunk) -> Iterator[Ints]:
    """Yield for each record of a chunk where the bytes behind its descriptor word are."""
    if chunk.pieces is None:
        yield from _escaped(chunk)
        return
    first, final, at, size = (each.tolist() for each in chunk.pieces)
    for begin, end in zip(first, final, strict=True):
        if begin == end:
            yield np.arange(at[begin], at[begin] + size[begin])
        else:
            pieces = range(begin, end + 1)
            yield np.concatenate([np.arange(at[each], at[each] + size[each]) for each in pieces])


def _escaped(chunk: Chunk) -> Iterator[Ints]:
    places = zip(
        *(each.tolist() for each in (chunk.start, chunk.length, chunk.offset)), strict=True
    )
    for start, length, offset in places:
        body: Bytes = chunk.buffer[start + RDW_SIZE : start + length]
        twice = body == _TWICE
        yield offset + np.arange(body.size) + np.cumsum(twice) - twice
