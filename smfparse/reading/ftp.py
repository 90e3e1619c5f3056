"""Framings `ftp-block` and `ftp-record`: files with the bytes that FTP transmits around records."""

from __future__ import annotations

import struct
from itertools import repeat

import numpy as np

from smfparse.reading.evidence import ESCAPE, MARKS, Ends, Escapes
from smfparse.reading.headers import (
    SMF_HEADER,
    headers_in,
    implied_length,
    is_plausible,
    plausible,
)
from smfparse.reading.segments import ALL, FIRST, LAST, MIDDLE, RDW_SIZE, WHOLE, Segments, Walk
from smfparse.reading.unblocked import Unframed
from smfparse.vectors import Bytes, Ints

_FTP_HEADER = struct.Struct(">BH")
_END_OF_RECORD, _END_OF_FILE, _RESTART_MARKER = 0x80, 0x40, 0x10
_DESCRIPTORS = frozenset({0x00, 0x80, 0x40, 0xC0, 0x10})
"""Valid descriptors of FTP's block mode: all without the bit for suspected errors."""
_MOST_MARKER = 64
"""Maximum number of bytes of a restart marker, which contains a place in the file as text."""


class FtpBlockWalk(Walk):
    """FTP's block mode as transmitted: a descriptor and a 2-byte length before every block."""

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
    """FTP's record structure as transmitted: `FF 01` ends a record, `FF FF` is one FF."""

    blind = False
    chained = False
    mapped = False
    escaped = True

    def segments(self, buffer: Bytes, at: int, end: int, last: bool, most: int = ALL) -> Segments:  # noqa: ARG002
        """Return the records, and remove the escapes from the buffer.

        If the data between two marks is not one record of the implied length, its records are found
        by their headers.
        """
        data = buffer[at:end]
        marks, twice, wrong = Escapes.of(data)
        marks = marks[:most]
        start, stop = np.append(0, marks + 2)[:-1], marks
        not_empty = stop > start
        start, stop = start[not_empty], stop[not_empty]
        used = int(marks[-1]) + 2 if marks.size else 0
        if twice.size:
            kept = np.ones(used, np.bool_)
            kept[twice[twice < used]] = False
            rest = data[:used][kept]
            data[: rest.size] = rest
        start, stop, wrong = (
            at + each - np.searchsorted(twice, each) for each in (start, stop, wrong)
        )
        start, stop, gap = _distinguished(buffer, start, stop, wrong)
        moved = at + twice - np.arange(twice.size)
        place, gap = (each + np.searchsorted(moved, each) for each in (start, gap))
        codes = np.zeros(len(start), np.uint8)
        gaps = [(first, behind - first) for first, behind in gap.tolist()]
        return Segments(
            start - RDW_SIZE, stop - start + RDW_SIZE, codes, place, at + used, gaps=gaps
        )

    def suits(self, buffer: Bytes, start: int, end: int) -> bool:
        """Whether marks end the records: in other files, such bytes are inside records."""
        return Ends.of(buffer[start:end]).have_marks


def _distinguished(buffer: Bytes, start: Ints, stop: Ints, wrong: Ints) -> tuple[Ints, Ints, Ints]:
    """Return starts of records, ends of records, and start and end of each gap, (gaps, 2).

    start, stop  int64 (pieces,): start and end of the data between two marks
    wrong        int64: places of escapes without a meaning
    """
    length = stop - start + RDW_SIZE
    bad = np.searchsorted(wrong, stop) > np.searchsorted(wrong, start)
    doubtful = bad | ~plausible(buffer, start - RDW_SIZE)
    doubtful |= implied_length(buffer, start - RDW_SIZE) != length
    records = [np.stack([start, stop], axis=1)[~doubtful]]
    gaps = list[tuple[int, int]]()
    indexes = np.flatnonzero(doubtful).tolist()
    low, high = (int(start[indexes[0]]), int(stop[indexes[-1]])) if indexes else (RDW_SIZE, 0)
    heads = headers_in(buffer, low - RDW_SIZE, high)
    lengths = implied_length(buffer, heads).tolist()
    from_head = np.searchsorted(heads, start - RDW_SIZE).tolist()
    to_head = np.searchsorted(heads, stop - SMF_HEADER, side="right").tolist()
    heads = heads.tolist()
    for index in indexes:
        piece = int(start[index]), int(stop[index])
        mine = slice(from_head[index], to_head[index])
        found, between = _in_piece(
            buffer, *piece, dict(zip(heads[mine], lengths[mine], strict=True))
        )
        if not between:
            found = [piece]
        for each in found:
            first, behind = np.searchsorted(wrong, each)
            if behind > first or not is_plausible(buffer, each[0] - RDW_SIZE):
                between.append(each)
            else:
                records.append(np.array([each]))
        gaps += between
    together = np.concatenate(records)
    together = together[np.argsort(together[:, 0])]
    return together[:, 0], together[:, 1], np.array(sorted(gaps), np.int64).reshape(-1, 2)


def _in_piece(
    buffer: Bytes, start: int, stop: int, implied: dict[int, int]
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return start and end of each record, and of each gap, in the data between two marks.

    implied  length of each record, implied by its contents, by the place of its header; 0: unknown

    A record of unknown length ends at the next record, or before a mark with one wrong byte. Both
    results are empty if the data is one record, or no record is found.
    """
    found, _, _ = Unframed([*implied], [*implied.values()], stop, True).records(start)
    starts = [head + RDW_SIZE for head, _ in found]
    if starts in ([], [start]):
        behind = start - RDW_SIZE + implied.get(start - RDW_SIZE, 0)
        is_mark = behind == stop - 2 and _was_mark(buffer, behind)
        return ([(start, behind)], [(behind, stop)]) if is_mark else ([], [])
    records, gaps, at = list[tuple[int, int]](), list[tuple[int, int]](), start
    for first, (head, size), following in zip(starts, found, [*starts[1:], stop], strict=True):
        behind = head + size
        if not implied[head] and following < stop and _was_mark(buffer, behind - 2):
            behind -= 2
        if implied[head] in (0, size):
            if records or first > at:
                gaps.append((at, first))
            records.append((first, behind))
            at = behind
    return records, [*gaps, (at, stop)] if at < stop else gaps


def _was_mark(buffer: Bytes, at: int) -> bool:
    """Whether one of the two bytes at `at` is the right byte of a mark."""
    return bool(buffer[at] == ESCAPE or 1 <= buffer[at + 1] <= MARKS)
