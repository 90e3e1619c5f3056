"""Records to the segments of a dump: the reverse of framing."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import BinaryIO

from smfparse.progress import PROGRESS

BLOCK_BYTES = 27_994
"""Bytes of segments in a block of a dump: BLKSIZE 27,998 without the block descriptor word."""
_AT_ONCE = 1 << 20
"""Bytes that are collected before they are written."""
_LEAST_SEGMENT = 36
"""A first segment is no shorter: the SMF header and a triplet."""
_RDW = struct.Struct(">HBB")
_WHOLE, _FIRST, _LAST, _MIDDLE = range(4)


class SegmentWriter:
    """Writes records as a dump data set holds them: spanned over blocks, without block words."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._room = BLOCK_BYTES

    def write(self, records: Iterator[memoryview]) -> None:
        """Write records, each with its RDW."""
        out = bytearray()
        for record in records:
            if len(record) <= self._room:
                out += record
                self._room -= len(record)
            else:
                self._span(record, out)
            if len(out) >= _AT_ONCE:
                PROGRESS.add(self._stream.write(out))
                out = bytearray()
        PROGRESS.add(self._stream.write(out))

    def _span(self, record: memoryview, out: bytearray) -> None:
        if self._room < _LEAST_SEGMENT:
            self._room = BLOCK_BYTES
        at = _RDW.size
        while at < len(record):
            size = min(len(record) - at, self._room - _RDW.size)
            out += _RDW.pack(_RDW.size + size, _code(at == _RDW.size, at + size == len(record)), 0)
            out += record[at : at + size]
            at += size
            self._room -= _RDW.size + size
            if self._room <= _RDW.size:
                self._room = BLOCK_BYTES


def _code(first: bool, last: bool) -> int:
    """Return the segment code."""
    if first:
        return _WHOLE if last else _FIRST
    return _LAST if last else _MIDDLE
