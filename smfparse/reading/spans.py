"""From segments to records: the segments of a spanned record are joined, in place."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from smfparse.reading.headers import EXTENDED_END, kinds_of
from smfparse.reading.segments import FIRST, MIDDLE, RDW_SIZE, Segments
from smfparse.vectors import Bools, Bytes, Ints


class Spans(NamedTuple):
    """Records in a buffer, each contiguous.

    start   int64 (records,): place of the RDW, real or virtual
    length  int64 (records,): bytes of the record, RDW included
    place   int64 (records,): place of the record in the file, as a place in the original buffer
    size    int64 (records,): bytes of the file from `place` to the end of the record
    used    place in the buffer after the last used byte
    lost    place, size and reason of spanned records with a missing segment
    first   int64 (records,): index of the first segment of each record
    final   int64 (records,): index of the last segment
    """

    start: Ints
    length: Ints
    place: Ints
    size: Ints
    used: int
    lost: list[tuple[int, int, str]]
    first: Ints
    final: Ints


def records(
    buffer: Bytes, found: Segments, last: bool, kinds: Ints | None, max_spanned: int
) -> Spans:
    """Return the records of segments; spanned records are made contiguous.

    last         whether no data follows the segments; otherwise an incomplete last record is not
                 used yet
    kinds        kinds of records (as in `kinds_of`) that are made contiguous; None: all
    max_spanned  maximum bytes of a record; a longer one is lost
    """
    if not found.code.any():
        return _whole(found)
    begins = found.code <= FIRST
    goes_on = (found.code == FIRST) | (found.code == MIDDLE)
    first = np.flatnonzero(begins | ~np.append(False, goes_on[:-1]))
    final = np.append(first[1:], len(begins)) - 1
    length = np.add.reduceat(found.length - RDW_SIZE, first) + RDW_SIZE
    size = found.extent(first, final + 1)
    ranges = found.range_of(first, final + 1)
    good = begins[first] & ~goes_on[final] & (size <= max_spanned)
    end = found.end
    pending = begins[first[-1]] and goes_on[final[-1]]
    if pending and size[-1] <= max_spanned and not last:
        end = int(found.place[first[-1]])
        first, final, length, good = first[:-1], final[:-1], length[:-1], good[:-1]
    lost = [
        (
            int(found.place[first[index]]),
            int(ranges[index]),
            _why(
                bool(begins[first[index]]),
                int(size[index]) > max_spanned,
                last and int(final[index]) + 1 == len(begins),
                max_spanned,
            ),
        )
        for index in np.flatnonzero(~good).tolist()
    ]
    first, final, size = first[good], final[good], ranges[: len(good)][good]
    start = _joined(buffer, found, first, final, kinds)
    return Spans(start, length[good], found.place[first], size, end, lost, first, final)


def _whole(found: Segments) -> Spans:
    """Return the records of segments that are one complete record each."""
    every = np.arange(found.at.size)
    return Spans(found.at, found.length, found.place, found.length, found.end, [], every, every)


def _why(has_first: bool, is_long: bool, is_cut: bool, max_spanned: int) -> str:
    if not has_first:
        return "spanned record lost: a later segment without its first one"
    if is_long:
        return f"spanned record lost: longer than {max_spanned} bytes"
    if is_cut:
        return "the file is truncated: the last segment of a spanned record is missing"
    return "spanned record lost: its last segment is missing"


def _joined(buffer: Bytes, found: Segments, first: Ints, final: Ints, kinds: Ints | None) -> Ints:
    """Make the records of the segments `first` to `final` contiguous; return their starts.

    Of two pieces, the shorter one is moved; of more pieces, all are moved up to the last.
    """
    view, start = memoryview(buffer.data), found.at[first]
    several: Bools = final > first
    if kinds is not None:
        whole_header = found.length[first] >= EXTENDED_END
        several &= np.isin(kinds_of(buffer, start), kinds) | ~whole_header
    pairs = np.flatnonzero(several & (final == first + 1))
    head, tail = found.length[first[pairs]], found.length[final[pairs]] - RDW_SIZE
    behind, data = start[pairs] + head, found.at[final[pairs]] + RDW_SIZE
    move(view, data, behind, np.where(head > tail, tail, 0))
    move(view, start[pairs], data - head, np.where(head > tail, 0, head))
    start[pairs] = np.where(head > tail, start[pairs], data - head)
    for index in np.flatnonzero(several & (final > first + 1)):
        pieces = slice(first[index], final[index] + 1)
        start[index] = _pushed(view, found.at[pieces].tolist(), found.length[pieces].tolist())
    return start


def move(view: memoryview, source: Ints, target: Ints, size: Ints) -> None:
    """Copy bytes in a buffer: for each index, `size` bytes from `source` to `target`."""
    some = size > 0
    moves = source[some], target[some], size[some]
    for old, new, length in zip(*(each.tolist() for each in moves), strict=True):
        view[new : new + length] = view[old : old + length]


def _pushed(view: memoryview, places: list[int], lengths: list[int]) -> int:
    """Move the data of pieces up to the last piece, with the RDW of the first; return the start."""
    at = places[-1] + RDW_SIZE
    for number in range(len(places) - 2, -1, -1):
        skip = RDW_SIZE if number else 0
        size = lengths[number] - skip
        piece = places[number] + skip
        view[at - size : at] = view[piece : piece + size]
        at -= size
    return at
