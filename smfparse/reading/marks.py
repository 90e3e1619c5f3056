"""The marks of FTP's record structure, and whether they end the records of a file.

`FF 01` ends a record, and `FF FF` means one FF. If such a file is read as framing `none`, all bytes
after an FF are shifted. So the ends of records decide between `ftp-record` and `none`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from smfparse.reading.headers import (
    HEADER_END,
    SMF_HEADER,
    TRIPLETS_END,
    headers_in,
    implied_length,
)
from smfparse.reading.segments import RDW_SIZE
from smfparse.schemas import QWHS, QWST
from smfparse.vectors import Bools, Bytes, Ints, gather

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
"""Minimum excess of records without a mark over records with a mark, to exclude marks."""


class Escapes(NamedTuple):
    """The places of escapes in data, by meaning.

    marks  int64: the end of a record or file
    twice  int64: one FF of the data
    wrong  int64: no valid meaning
    """

    marks: Ints
    twice: Ints
    wrong: Ints

    @classmethod
    def of(cls, data: Bytes) -> Escapes:
        """Find the escapes in data. Of consecutive FF bytes, every second one is data."""
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
    """The numbers of records in some data that end as in each of two framings.

    marked  records that end at a mark of FTP's record structure
    bare    records that end at the start of the next record
    """

    marked: int
    bare: int

    @classmethod
    def of(cls, data: Bytes) -> Ends:
        """Count the records in `data`."""
        return cls(_marked(data), _bare(data))

    @property
    def have_marks(self) -> bool:
        """Whether marks end the records: damage destroys marks more often than it makes them."""
        return 0 < self.marked >= self.bare

    @property
    def are_bare(self) -> bool:
        """Whether the records certainly end without marks."""
        return self.bare >= self.marked + _MORE


def names_agree(buffer: Bytes, start: Ints) -> Bools:
    """Return for each MQ record whether its QWHS and its SMF header name the same queue manager.

    QWHS is the last block in most records. If QWHS is in place, so are all bytes before it.
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
    """Return whether one of the sorted `places` is less than LITTLE bytes after each of `at`."""
    found: Bools = np.searchsorted(places, at) < np.searchsorted(places, at + LITTLE, "right")
    return found


def _records(data: Bytes) -> tuple[Ints, Ints]:
    """Return the places of headers in data, and the implied ends of their records; 0: not known."""
    buffer = _padded(data)
    heads = headers_in(buffer, 0, RDW_SIZE + data.size)
    implied = implied_length(buffer, heads)
    return heads, np.where(implied > 0, heads + implied - RDW_SIZE, 0)


def _padded(data: Bytes) -> Bytes:
    """Return `data` with zeros for an RDW in front, and zeros at its end for reads beyond it."""
    return np.concatenate([np.zeros(RDW_SIZE, np.uint8), data, np.zeros(TRIPLETS_END, np.uint8)])
