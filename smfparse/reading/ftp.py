"""Framings `ftp-block` and `ftp-record`: what FTP has on the line around records, saved raw."""

from __future__ import annotations

import struct
from itertools import repeat

import numpy as np

from smfparse.reading.segments import ALL, FIRST, LAST, MIDDLE, RDW_SIZE, WHOLE, Segments, Walk
from smfparse.vectors import Bytes, Ints

_FTP_HEADER = struct.Struct(">BH")
_END_OF_RECORD, _END_OF_FILE, _RESTART_MARKER = 0x80, 0x40, 0x10
_DESCRIPTORS = frozenset({0x00, 0x80, 0x40, 0xC0, 0x10})
"""Descriptors of FTP's block mode: bits as above. Where data is suspected wrong, it is not used."""
_MOST_MARKER = 64
"""Bytes of a restart marker: a place in a file, in characters."""
_ESCAPE = 0xFF
_MARKS = 3
"""Behind the escape of FTP's record structure: 1 end of record, 2 of file, 3 of both."""


class FtpBlockWalk(Walk):
    """FTP's block mode as it was on the line: descriptor and 2-byte length in front of a block."""

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
