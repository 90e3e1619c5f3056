"""Readers that take only files in which nothing is wrong."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator

from corruption.framings import EOF, EOR, FIRST, LAST, MIDDLE, NULL
from corruption.samples import HEADER, RDW, implied, recognised

Found = list[tuple[int, bytes]]
"""Where each record starts, with what frames it, and its body."""


class UnsoundError(Exception):
    """Something is wrong with a file."""


def strictly(framing: str, data: bytes) -> Found | None:
    """Return the records of a file; None if anything in it is wrong.

    So is a record of MQ that is not as long as what is in it says.
    """
    try:
        found = _READERS[framing](data)
    except (UnsoundError, struct.error):
        return None
    sound = all(recognised(body) and implied(body) in (0, len(body)) for _, body in found)
    return found if sound else None


def _check(good: bool) -> None:
    if not good:
        raise UnsoundError


def _segments(data: bytes, at: int, end: int) -> Iterator[tuple[int, int, bytes]]:
    while at < end:
        length, code, zero = struct.unpack_from(">HBB", data, at)
        _check(zero == 0 and (code <= MIDDLE or code == NULL) and RDW <= length <= end - at)
        piece = data[at + RDW : at + length]
        if code == NULL:
            _check(not any(piece))
        else:
            yield at, code, piece
        at += length


def _joined(segments: Iterator[tuple[int, int, bytes]]) -> Found:
    found: Found = []
    goes_on = False
    for at, code, piece in segments:
        _check((code in (LAST, MIDDLE)) == goes_on)
        if goes_on:
            found[-1] = (found[-1][0], found[-1][1] + piece)
        else:
            found.append((at, piece))
        goes_on = code in (FIRST, MIDDLE)
    _check(not goes_on)
    return found


def _read_rdw(data: bytes) -> Found:
    return _joined(_segments(data, 0, len(data)))


def block_length(data: bytes) -> int:
    """Return the length that data say which start with a block descriptor word; 0: they do not."""
    (word,) = struct.unpack_from(">I", data.ljust(RDW, b"\0"))
    length: int = word & 0x7FFF_FFFF if word >> 31 else word >> 16
    return length if length >= 2 * RDW and (word >> 31 or not word & 0xFFFF) else 0


def _read_bdw(data: bytes) -> Found:
    def segments() -> Iterator[tuple[int, int, bytes]]:
        at = 0
        while at < len(data):
            length = block_length(data[at : at + RDW])
            _check(0 < length <= len(data) - at)
            yield from _segments(data, at + RDW, at + length)
            at += length

    return _joined(segments())


def _read_none(data: bytes) -> Found:
    found, at = [], 0
    while at < len(data):
        length = implied(data[at:])
        _check(HEADER <= length <= len(data) - at)
        found.append((at, data[at : at + length]))
        at += length
    return found


def _read_length(data: bytes) -> Found:
    found, at = [], 0
    while at < len(data):
        (length,) = struct.unpack_from(">I", data, at)
        _check(0 < length <= len(data) - at - RDW)
        found.append((at, data[at + RDW : at + RDW + length]))
        at += RDW + length
    return found


def _read_ftp_block(data: bytes) -> Found:
    found: Found = []
    start, body, at = 0, b"", 0
    while at < len(data):
        flags, length = struct.unpack_from(">BH", data, at)
        _check(not flags & ~(EOR | EOF) and (flags or length) > 0 and length <= len(data) - at - 3)
        start = at if not body else start
        body += data[at + 3 : at + 3 + length]
        at += 3 + length
        if flags and body:
            _check(bool(flags & EOR))
            found.append((start, body))
            body = b""
        _check(not flags & EOF or at == len(data))
    _check(not body)
    return found


def _read_ftp_record(data: bytes) -> Found:
    found: Found = []
    start = at = 0
    body = b""
    while at < len(data):
        escape = data.find(b"\xff", at)
        code = data[escape + 1 : escape + 2]
        _check(escape >= 0 and code in (b"\xff", b"\1", b"\2", b"\3"))
        body += data[at:escape]
        at = escape + 2
        if code == b"\xff":
            body += code
            continue
        _check(bool(body) != (code == b"\2"))
        _check(code == b"\1" or at == len(data))
        if body:
            found.append((start, body))
        start, body = at, b""
    _check(not body)
    return found


_READERS: dict[str, Callable[[bytes], Found]] = {
    "rdw": _read_rdw,
    "bdw": _read_bdw,
    "none": _read_none,
    "length": _read_length,
    "ftp-block": _read_ftp_block,
    "ftp-record": _read_ftp_record,
}
