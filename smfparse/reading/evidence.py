"""Evidence that a record starts at a place in a buffer, and that records end with FTP marks.

A length alone is no evidence. A record has an SMF header with a plausible time and date, and
another record follows.

In FTP's record structure, `FF 01` ends a record, and `FF FF` means one FF. If such a file is read
as framing `none`, all bytes after an FF are shifted. So the ends of records show whether the
framing is `ftp-record` or `none`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from smfparse.reading.headers import (
    HEADER_END,
    SMF_HEADER,
    TRIPLETS_END,
    are_sound,
    headers_in,
    implied_length,
    is_dump,
    is_plausible,
    plausible,
    tells_length,
)
from smfparse.reading.segments import FIRST, LAST, RDW_SIZE, WHOLE, Segments, Walk
from smfparse.schemas import QWHS, QWST
from smfparse.vectors import Bools, Bytes, Ints, gather

_STRETCH = 1 << 14
"""Number of bytes that are searched in one step."""


class Heads:
    """The places of SMF headers in a buffer, cached from `headers_in`.

    The contents of the buffer must not change.
    """

    def __init__(self, buffer: Bytes) -> None:
        self.buffer = buffer
        self._found: dict[int, list[int]] = {}

    def between(self, low: int, end: int) -> Iterator[int]:
        """Yield in order the places, from `low` on, of the headers that end at or before `end`."""
        high = end - SMF_HEADER
        for number in range(low // _STRETCH, high // _STRETCH + 1):
            places = self._in(number)
            for index in range(bisect_left(places, low), len(places)):
                if places[index] > high:
                    return
                yield places[index]

    def _in(self, number: int) -> list[int]:
        found = self._found.get(number)
        if found is None:
            start = number * _STRETCH
            behind = min(start + _STRETCH + SMF_HEADER - 1, self.buffer.size)
            found = self._found[number] = headers_in(self.buffer, start, behind).tolist()
        return found


_LOOKS = ((1 << 12, 3), (1 << 17, 1 << 9))
"""Maximum bytes and segments in which the successor of a record is searched. The first pair is
usually sufficient. The second is sufficient for the longest record in segments of 64 bytes.
"""
_FEW = 16
"""Maximum number of segments for which checking each segment separately is faster."""


def are_heads(buffer: Bytes, found: Segments) -> Bools:
    """Return for each segment whether it can start a record.

    A first segment that is too short for an SMF header can start a record.
    """
    if found.code.size <= _FEW:
        each = zip(found.at.tolist(), found.length.tolist(), found.code.tolist(), strict=True)
        return np.array([_is_head(buffer, *one) for one in each], np.bool_)
    seen = found.length >= SMF_HEADER
    heads: Bools = (found.code <= FIRST) & (seen | (found.code == FIRST))
    heads[heads & seen] = plausible(buffer, found.at[heads & seen])
    heads[heads] = ~holds_records(buffer, found.at[heads], found.length[heads])
    return heads


def holds_records(buffer: Bytes, start: Ints, length: Ints) -> Bools:
    """Return for each segment whether it contains a dump header or trailer and then a record.

    A dump header or trailer consists only of an SMF header. So if a record follows inside the
    segment, the length of the segment is that of a block, not of a record.
    """
    holds: Bools = (length >= 2 * SMF_HEADER) & is_dump(buffer, start)
    if not holds.any():
        return holds
    holds[holds] = plausible(buffer, start[holds] + SMF_HEADER)
    return holds


def hides_record(walk: Walk, heads: Heads, low: int, high: int, end: int) -> bool:
    """Whether a record that leads to another record starts after `low` and before `high`."""
    places = _places(walk, heads, low, high, low + 1)
    return any(leads_on(walk, heads.buffer, place, end, False) for place in places)


def _places(walk: Walk, heads: Heads, low: int, high: int, first: int) -> Iterator[int]:
    for each in heads.between(low, high):
        place = walk.begin(heads.buffer, each, first)
        if place is not None:
            yield place


def next_record(
    walk: Walk, heads: Heads, low: int, end: int, last: bool
) -> tuple[int | None, bool]:
    """Return the first place from `low` on of a record that leads to another, and if it is certain.

    last  whether no data follows `end`

    The place is uncertain if the other record is after `end`. None: no such place.
    """
    for place in _places(walk, heads, max(low - RDW_SIZE, 0), end, low):
        found = leads_on(walk, heads.buffer, place, end, last)
        if found is not False:
            return place, bool(found)
    return None, True


def leads_on(walk: Walk, buffer: Bytes, place: int, end: int, last: bool) -> bool | None:
    """Whether a record at `place` leads to another record; None: more data after `end` is required.

    No other record is required at the end of the file, or if the record is exactly as long as its
    triplets imply.
    """
    for size, most in _LOOKS:
        stop = min(end, place + size)
        found = walk.segments(buffer, place, stop, last and stop == end, most)
        follows = _followed(walk, buffer, found, stop, last and stop == end)
        if follows is not None:
            return follows
    is_open = stop == end and not last and found.code.size < most
    return None if is_open else False


def _followed(walk: Walk, buffer: Bytes, found: Segments, end: int, last: bool) -> bool | None:
    """Whether the first segments are a record that leads to another record; None: unknown."""
    code, length = found.code.tolist(), found.length.tolist()
    if not code:
        return False if found.broken else None
    at = found.at.tolist()
    ends = next((index for index, each in enumerate(code) if each in (WHOLE, LAST)), len(code))
    wrong = any(each <= FIRST for each in code[1 : ends + 1])
    if wrong or not _is_head(buffer, at[0], length[0], code[0]):
        return False
    if ends == len(code):
        return False if found.broken else None
    later = next((index for index in range(ends + 1, len(code)) if code[index] <= FIRST), None)
    if later is not None and _is_head(buffer, at[later], length[later], code[later]):
        return True
    if last and found.end == end:
        return True
    if tells_length(buffer, at[0]) and fills(buffer, found.where(slice(1)))[0]:
        return True
    if later is None and found.end + RDW_SIZE + SMF_HEADER > end:
        return None
    begins = walk.begins(buffer, found.end, end) or walk.ends_line(buffer, found.end, end) > 0
    return later is None and begins


def _is_head(buffer: Bytes, at: int, length: int, code: int) -> bool:
    """Return the result of `are_heads` for one segment; faster for few segments."""
    if length < SMF_HEADER:
        return code == FIRST
    if code > FIRST or not is_plausible(buffer, at):
        return False
    holds = length >= 2 * SMF_HEADER and is_plausible(buffer, at + SMF_HEADER)
    return not (holds and is_dump(buffer, np.array([at]))[0])


def fills(buffer: Bytes, found: Segments) -> Bools:
    """Return for each segment whether it is a complete record, as long as its contents imply."""
    start = found.at
    filled: Bools = (found.code == WHOLE) & (implied_length(buffer, start) == found.length)
    return filled & are_sound(buffer, start)


ESCAPE = 0xFF
MARK = 2
"""Number of bytes of a mark."""
MARKS = 3
"""Maximum second byte of a mark: 1 (end of record), 2 (end of file) or 3 (both)."""
LITTLE = 4
"""Maximum number of bytes of a damaged mark or line ends between records."""
_OFFSET = np.dtype(">u4")
"""Type of the offset of the QWHS area, in the first triplet."""
_QMGR = QWST.field("sm115SSI").offset
_NAME = QWHS.field("qwhsssid")
_MORE = 2
"""A file has no marks if records without a mark exceed records with a mark by this number."""


class Escapes(NamedTuple):
    """The places of escapes in data, by meaning.

    marks  int64: escapes that end a record or the file
    twice  int64: escapes that mean one FF
    wrong  int64: escapes without a valid meaning
    """

    marks: Ints
    twice: Ints
    wrong: Ints

    @classmethod
    def of(cls, data: Bytes) -> Escapes:
        """Return the escapes in data. Of consecutive FF bytes, every second byte is data."""
        found = np.flatnonzero(data == ESCAPE)
        number = np.arange(found.size)
        begins = np.append(True, np.diff(found) != 1)[: found.size]
        run = np.maximum.accumulate(np.where(begins, number, 0))
        seen = found[(number - run) % 2 == 0]
        seen = seen[seen + 1 < data.size]
        meaning = data[seen + 1]
        is_mark = (meaning >= 1) & (meaning <= MARKS)
        is_twice = meaning == ESCAPE
        return cls(seen[is_mark], seen[is_twice], seen[~(is_mark | is_twice)])


class Ends(NamedTuple):
    """Numbers of records that end as in framing `ftp-record`, and as in framing `none`.

    marked  number of records that end at a mark of FTP's record structure
    bare    number of records that end at the start of the next record
    """

    marked: int
    bare: int

    @classmethod
    def of(cls, data: Bytes) -> Ends:
        """Count the records in `data`."""
        return cls(_marked(data), _bare(data))

    @property
    def have_marks(self) -> bool:
        """Whether marks end the records. Damage destroys marks more often than it creates them."""
        return 0 < self.marked >= self.bare

    @property
    def are_bare(self) -> bool:
        """Whether the records certainly end without marks."""
        return self.bare >= self.marked + _MORE


def names_agree(buffer: Bytes, start: Ints) -> Bools:
    """Return for each MQ record whether its QWHS and its SMF header name the same queue manager.

    QWHS is the last block in most records. If QWHS is not shifted, no byte before it is shifted.
    """
    area = gather(buffer, start + HEADER_END, _OFFSET.itemsize).view(_OFFSET)[:, 0]
    inner = np.minimum(start + area + _NAME.offset, buffer.size - _NAME.kind.width)
    names = (gather(buffer, each, _NAME.kind.width) for each in (start + _QMGR, inner))
    found: Bools = np.logical_and.reduce(np.equal(*names), axis=1)
    return found


def is_escaped(data: Bytes) -> bool | None:
    """Whether an MQ record contains escapes, judged by the place of its QWHS; None: not known."""
    if not (data == ESCAPE).any():
        return False
    escapes = Escapes.of(data)
    kept = np.ones(data.size, np.bool_)
    kept[escapes.twice] = False
    start = np.zeros(1, np.int64)
    as_is, plain = (_padded(each) for each in (data, data[kept]))
    if names_agree(as_is, start)[0]:
        area = int.from_bytes(as_is[HEADER_END : HEADER_END + _OFFSET.itemsize].tobytes())
        behind = area + _NAME.end - RDW_SIZE
        return None if (escapes.twice >= behind).any() else False
    return True if names_agree(plain, start)[0] else None


def _marked(data: Bytes) -> int:
    """Count the marks that directly follow a record, or precede a record or the end of the data.

    A mark inside a record, or after a record with a wrong escape, is not counted.
    """
    escapes = Escapes.of(data)
    if not escapes.marks.size:
        return 0
    kept = np.ones(data.size, np.bool_)
    kept[escapes.twice] = False
    marks, wrong = (
        each - np.searchsorted(escapes.twice, each) for each in (escapes.marks, escapes.wrong)
    )
    start, end = _records(data[kept])
    start, end = np.append(0, start), np.append(0, end)
    owner = np.searchsorted(start, marks, side="right") - 1
    sound = np.searchsorted(wrong, marks) == np.searchsorted(wrong, start[owner])
    behind = (end[owner] > 0) & (marks - end[owner] <= LITTLE)
    following = np.append(start, int(kept.sum()))
    ends = behind | _is_near(following, marks + MARK)
    least = np.maximum(end[owner], start[owner] + SMF_HEADER - RDW_SIZE)
    return int(np.count_nonzero(sound & ends & (marks >= least)))


def _bare(data: Bytes) -> int:
    """Count records that end where the next record starts, or where the data ends.

    A record of unknown length is counted if no mark precedes the next record.
    """
    start, end = _records(data)
    following = np.append(start[1:], data.size)[: start.size]
    before = data[np.maximum(following[:, None] - np.arange(LITTLE + MARK, 0, -1), 0)]
    is_mark = (before[:, :-1] == ESCAPE) & (before[:, 1:] >= 1) & (before[:, 1:] <= MARKS)
    unknown = (end == 0) & (following < data.size) & ~is_mark.any(axis=1)
    return int(np.count_nonzero((end == following) | unknown))


def _is_near(places: Ints, at: Ints) -> Bools:
    """Return for each of `at` whether any of the sorted `places` is 0 to LITTLE bytes after it."""
    found: Bools = np.searchsorted(places, at) < np.searchsorted(places, at + LITTLE, "right")
    return found


def _records(data: Bytes) -> tuple[Ints, Ints]:
    """Return start (after the RDW) and implied end of each record in `data`; end 0: unknown."""
    buffer = _padded(data)
    heads = headers_in(buffer, 0, RDW_SIZE + data.size)
    implied = implied_length(buffer, heads)
    return heads, np.where(implied > 0, heads + implied - RDW_SIZE, 0)


def _padded(data: Bytes) -> Bytes:
    """Return `data` with zeros before it, for an RDW, and after it, for reads beyond its end."""
    return np.concatenate([np.zeros(RDW_SIZE, np.uint8), data, np.zeros(TRIPLETS_END, np.uint8)])
