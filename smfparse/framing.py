"""Bytes of a file to logical records.

Whatever the file variant, what leaves this room is a stream of `Chunk`s: a buffer, and for each
record where it starts in it. `start` is where the record's RDW is, or would be, so the offsets in
triplets, which count from there, always add; records that were split into segments are contiguous.

The variant read here is the RDW stream, with or without spanned records: FTP binary with
`quote site rdw`, or a download of a VBS data set by record.
"""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeAlias

import numpy as np
from numpy.typing import NDArray

from smfparse.errors import Damage, DamageLog, InputError

Bytes: TypeAlias = NDArray[np.uint8]
Ints: TypeAlias = NDArray[np.int64]

CHUNK_BYTES = 8 << 20
MAX_RECORD = 1 << 20
"""No spanned record grows beyond this: SMF itself stops at 32,756 bytes."""
SLACK = 1 << 16
"""Bytes behind the last record that may be read (not used): no block is longer."""

RDW = struct.Struct(">HBB")
NO_RECORD = "no SMF record starts here"
SMF_HEADER = 18
"""Bytes from the RDW to the end of the system id: every SMF record has these."""
WHOLE, FIRST, LAST, MIDDLE = range(4)

_TIME, _DATE = slice(6, 10), slice(10, 14)
_DAY_HUNDREDTHS = 24 * 3600 * 100


@dataclass(frozen=True)
class Chunk:
    """Logical records in one buffer; valid until the next chunk is asked for.

    buffer     uint8, with at least SLACK bytes behind the last record
    start      int64 (records,): where each record's RDW is in the buffer
    length     int64 (records,): bytes of the whole record, RDW included
    offset     int64 (records,): byte of the record's first RDW in the source
    record_no  int64 (records,): 1-based logical record in the source
    """

    source: str
    buffer: Bytes
    start: Ints
    length: Ints
    offset: Ints
    record_no: Ints


def chunks(
    path: Path, damage: DamageLog, chunk_bytes: int = CHUNK_BYTES
) -> Generator[Chunk, None, None]:
    """Read the SMF file `path` as chunks of about `chunk_bytes`, in constant memory.

    What cannot be used is noted in `damage`. Raises InputError where nothing can be used: the file
    is missing, unreadable, empty, or does not start with an SMF record behind an RDW.
    """
    try:
        with path.open("rb", buffering=0) as stream:
            yield from _RdwReader(str(path), stream, damage, chunk_bytes)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error


_Segment: TypeAlias = tuple[int, int]
"""Position in the buffer and length of a segment, RDW included."""


@dataclass(frozen=True)
class _Found:
    """Records found: start in the buffer, length, offset in the source."""

    starts: list[int]
    lengths: list[int]
    offsets: list[int]

    def add(self, start: int, length: int, offset: int) -> None:
        self.starts.append(start)
        self.lengths.append(length)
        self.offsets.append(offset)

    def arrays(self) -> tuple[Ints, Ints, Ints]:
        start, length, offset = (
            np.array(each, np.int64) for each in (self.starts, self.lengths, self.offsets)
        )
        return start, length, offset


class _RdwReader:
    """The RDW stream: `LL LL S 00` in front of every segment, LL with these 4 bytes."""

    def __init__(self, source: str, stream: BinaryIO, damage: DamageLog, chunk_bytes: int) -> None:
        self.source = source
        self.stream = stream
        self.damage = damage
        self.capacity = max(chunk_bytes, 2 * MAX_RECORD)
        self.buffer = np.zeros(self.capacity + SLACK, np.uint8)
        self.view = memoryview(self.buffer.data)
        self.base = 0
        """Byte of the source that buffer[0] is."""
        self.count = 0
        """Records given so far."""
        self.stopped: Damage | None = None
        """Why the reading ends before the source does."""
        status = os.fstat(stream.fileno())
        self.size = status.st_size if stat.S_ISREG(status.st_mode) else None

    def __iter__(self) -> Iterator[Chunk]:
        held = 0
        while self.stopped is None:
            end = self._fill(held)
            if end == held:
                self._finish(held)
                return
            found, used = self._walk(end)
            chunk = self._chunk(found)
            if chunk.start.size:
                yield chunk
            held = end - used
            self.buffer[:held] = self.buffer[used:end]
            self.base += used
        self.damage.add(self.stopped)

    def _fill(self, end: int) -> int:
        """Read until the buffer is full or the source ends; return the new end of the data."""
        while end < self.capacity:
            got = self.stream.readinto(self.view[end : self.capacity])  # type: ignore[attr-defined]
            if not got:
                break
            end += got
        return end

    def _walk(self, end: int) -> tuple[_Found, int]:
        """Find the records in buffer[:end]; return them, and up to where the bytes are used."""
        unpack, view = RDW.unpack_from, self.view
        found = _Found([], [], [])
        add_start, add_length = found.starts.append, found.lengths.append
        add_offset, base = found.offsets.append, self.base
        pieces: list[_Segment] = []
        at = 0
        while end - at >= RDW.size:
            length, code, zero = unpack(view, at)
            if length < RDW.size or code > MIDDLE or zero:
                self._stop(at, pieces, end)
                break
            if at + length > end:
                break
            if code == WHOLE and not pieces:
                add_start(at)
                add_length(length)
                add_offset(base + at)
            else:
                pieces = self._segment(code, (at, length), pieces, found)
            at += length
        return found, pieces[0][0] if pieces else at

    def _segment(
        self, code: int, segment: _Segment, pieces: list[_Segment], found: _Found
    ) -> list[_Segment]:
        """Take one segment into account; return the segments of the record that is still open."""
        if code in (WHOLE, FIRST):
            if pieces:
                self._lost(pieces, "its last segment is missing")
            if code == FIRST:
                return [segment]
            found.add(*segment, self.base + segment[0])
            return []
        if not pieces:
            self._lost([segment], "a later segment without its first one")
            return []
        pieces.append(segment)
        if code == LAST:
            found.add(*self._join(pieces), self.base + pieces[0][0])
            return []
        if sum(segment) - pieces[0][0] > MAX_RECORD:
            self._lost(pieces, f"more than {MAX_RECORD} bytes without a last segment")
            return []
        return pieces

    def _join(self, pieces: list[_Segment]) -> tuple[int, int]:
        """Move all segments but the last up against it, without their RDWs; keep the first RDW."""
        at = pieces[-1][0] + RDW.size
        end = pieces[-1][0] + pieces[-1][1]
        for piece, length in reversed(pieces[:-1]):
            skip = 0 if piece == pieces[0][0] else RDW.size
            size = length - skip
            self.view[at - size : at] = self.view[piece + skip : piece + length]
            at -= size
        return at, end - at

    def _chunk(self, found: _Found) -> Chunk:
        start, length, offset = found.arrays()
        good = _plausible(self.buffer, start, length)
        if not good.all():
            good = self._skipped(good, length, offset)
            start, length, offset = start[good], length[good], offset[good]
        numbers = np.arange(self.count + 1, self.count + 1 + start.size)
        self.count += start.size
        return Chunk(self.source, self.buffer, start, length, offset, numbers)

    def _skipped(self, good: NDArray[np.bool_], length: Ints, offset: Ints) -> NDArray[np.bool_]:
        """Note records whose header cannot be; return which ones to use.

        Where no good record follows, and the chain of lengths ends or never was good, reading
        stops: these are no records.
        """
        places = np.flatnonzero(good)
        end = len(good)
        if not places.size or (self.stopped is not None and places[-1] + 1 < end):
            end = int(places[-1]) + 1 if places.size else 0
            self._stop_at(int(offset[end]), NO_RECORD)
        for index in np.flatnonzero(~good[:end]):
            place, size = int(offset[index]), int(length[index])
            reason = "the SMF header has no time or date; the record is skipped"
            self.damage.add(Damage(self.source, place, size, reason))
        return good

    def _stop_at(self, offset: int, reason: str) -> None:
        """Stop at bytes that are no SMF record; where they are the first, the file is no dump."""
        if offset == 0:
            raise InputError(
                f"{self.source}: no SMF record at the start of the file. It has to be the binary "
                "copy of an SMF dump with record descriptor words (FTP: binary, quote site rdw)."
            )
        length = None if self.size is None else self.size - offset
        reason = f"{reason}; the rest of the file is not used"
        self.stopped = Damage(self.source, offset, length, reason)

    def _stop(self, at: int, pieces: list[_Segment], end: int) -> None:
        if pieces:
            self._lost(pieces, "its last segment is missing")
            pieces.clear()
        zeros = not self.view[at:end].tobytes().strip(b"\0")
        reason = "zero bytes where a record should start" if zeros else NO_RECORD
        self._stop_at(self.base + at, reason)

    def _lost(self, pieces: list[_Segment], why: str) -> None:
        offset, length = self.base + pieces[0][0], sum(length for _, length in pieces)
        self.damage.add(Damage(self.source, offset, length, f"spanned record lost: {why}"))

    def _finish(self, held: int) -> None:
        """Account for bytes that are left at the end of the source."""
        if self.base == 0 and held == 0:
            raise InputError(f"{self.source}: the file is empty")
        if held == 0:
            return
        if self.base == 0 and not _plausible(self.buffer, np.zeros(1, np.int64), np.array([held])):
            self._stop_at(0, NO_RECORD)
        says = RDW.unpack_from(self.view)[0] if held >= RDW.size else RDW.size
        reason = f"the file is cut: a segment of {says} bytes starts here, {held} are left"
        if says <= held:
            reason = "the file is cut: the last segment of a spanned record is missing"
        self.damage.add(Damage(self.source, self.base, held, reason))


def _plausible(buffer: Bytes, start: Ints, length: Ints) -> NDArray[np.bool_]:
    """Whether each record has the time and packed date that every SMF header has."""
    if start.size == 0:
        return np.ones(0, np.bool_)
    windows = np.lib.stride_tricks.sliding_window_view(buffer, SMF_HEADER)[start]
    time = windows[:, _TIME].copy().view(">u4")[:, 0]
    date = windows[:, _DATE]
    digits = np.stack([date >> 4, date & 15], axis=2).reshape(-1, 8)
    decimal = (digits[:, :7] <= 9).all(axis=1) & (digits[:, 7] >= 10)
    good: NDArray[np.bool_] = (length >= SMF_HEADER) & (time < _DAY_HUNDREDTHS) & decimal
    return good
