"""Which bytes of a file a row is made of, and which do nothing but frame records."""

from __future__ import annotations

import struct

from corruption.reading import Row
from corruption.samples import RDW
from tests.support.variants import EOF, EOR, FIRST, MIDDLE, NULL

_STEPS = 10_000
_MARKS = (b"\0", b"\1", b"\2", b"\3")
"""Behind FF where FTP's record structure ends something; 0 is a mark that was hit."""


def extent(framing: str, data: bytes, row: Row) -> tuple[int, int] | None:
    """Return where the bytes of a row start and end in a file; None: that is not seen."""
    start, size = row.offset, row.length - RDW
    match framing:
        case "none":
            return start, start + size
        case "length":
            return start, start + RDW + size
        case "ftp-record":
            end = _escaped(data, start, size)
        case "ftp-block":
            end = _behind_blocks(data, start, size)
        case _:
            end = _behind_segments(data, start, size)
    return None if end is None else (start, end)


def _escaped(data: bytes, at: int, size: int) -> int | None:
    while size > 0:
        escape = data.find(b"\xff", at, at + size)
        if escape < 0:
            at, size = at + size, 0
        else:
            size -= escape - at + 1
            at = escape + 2
    marked = data[at : at + 1] == b"\xff" and data[at + 1 : at + 2] in _MARKS
    return at + 2 if marked else at


def _behind_blocks(data: bytes, at: int, size: int) -> int | None:
    for _ in range(_STEPS):
        if size <= 0 or at + 3 > len(data):
            return at if not size else None
        flags, length = struct.unpack_from(">BH", data, at)
        at += 3 + length
        if not flags & 0x10:
            size -= length
    return None


def _behind_segments(data: bytes, at: int, size: int) -> int | None:
    first = True
    for _ in range(_STEPS):
        if size <= 0 or at + RDW > len(data):
            return at if not size else None
        length, code, zero = struct.unpack_from(">HBB", data, at)
        goes_on = length >= RDW and not zero and code in ((0, FIRST) if first else (2, MIDDLE))
        if goes_on:
            size -= length - RDW
            at += length
            first = False
        elif code == NULL and length >= RDW and not zero:
            at += length
        elif first:
            return None
        else:
            at += RDW
    return None


def framing_only(framing: str, gap: bytes, is_filled: bool = False) -> bool:
    """Whether bytes between records do nothing but frame them; zeros fill up a block.

    is_filled  whether a null segment was in front: then zeros may be here, up to what frames others
    """
    while gap:
        if is_filled and not gap[0]:
            zeros = len(gap) - len(gap.lstrip(b"\0"))
            behind = (gap[zeros - each :] for each in range(min(zeros, RDW - 1) + 1))
            return any(not each or _frames(framing, each) for each in behind)
        size = _frame(framing, gap)
        if not size:
            return False
        is_filled = is_filled or gap[2:3] >= bytes([NULL])
        gap = gap[size:]
    return True


def _frames(framing: str, gap: bytes) -> bool:
    """Whether bytes behind zeros begin with something that frames records, and go on so."""
    size = _frame(framing, gap)
    return size > 0 and framing_only(framing, gap[size:], is_filled=True)


def _frame(framing: str, gap: bytes) -> int:
    """Return how many bytes at the start of a gap frame records."""
    if framing == "ftp-record":
        return 2 if gap[0] == 0xFF and gap[1:2] in _MARKS else 0
    if framing == "ftp-block" and len(gap) >= 3:
        flags, length = struct.unpack_from(">BH", gap)
        marker = flags == 0x10 and length <= 64
        empty = not length and flags in (EOR, EOF, EOR | EOF)
        return 3 + length if marker or empty else 0
    if framing not in ("rdw", "bdw") or len(gap) < RDW:
        return 0
    length, code, zero = struct.unpack_from(">HBB", gap)
    if code & ~MIDDLE == NULL and not zero and length >= RDW:
        return length if length <= len(gap) and not any(gap[RDW:length]) else RDW
    if length == RDW and code <= MIDDLE and not zero:
        return RDW
    is_block = framing == "bdw" and (length >= 0x8000 or (length >= 8 and not code | zero))
    return RDW if is_block else 0
