"""Bytes of a file to logical records.

Whatever the file variant, what leaves this room is a stream of `Chunk`s: a buffer, and for each
record where it starts in it. `start` is where the record's RDW is, or would be, so the offsets in
triplets, which count from there, always add; records that were split into segments are contiguous.

The variant read here is the RDW stream, with or without spanned records: FTP binary with
`quote site rdw`, or a download of a VBS data set by record.
"""

from __future__ import annotations

import itertools
import mmap
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

CHUNK_BYTES = 16 << 20
MAX_RECORD = 1 << 20
"""No spanned record grows beyond this: SMF itself stops at 32,756 bytes."""
SLACK = 1 << 16
"""Bytes behind the last record that may be read (not used): no block is longer."""

RDW = struct.Struct(">HBB")
_WORD = struct.Struct(">I")
_WORD_AND_TYPE = struct.Struct(">IxB")
_NEVER = 0xFCFF
"""Bits of an RDW that are never on: segment codes are 0 to 3, the last byte is zero."""
_LATER = 0x0200
"""On in the RDW of a segment that goes on with a record: LAST and MIDDLE."""
_LEAST = RDW.size << 16
"""An RDW below this is shorter than itself."""
NO_RECORD = "no SMF record starts here"
SMF_HEADER = 18
"""Bytes from the RDW to the end of the system id: every SMF record has these."""
WHOLE, FIRST, LAST, MIDDLE = range(4)
_WINDOW = 64 << 20
"""Bytes of a file that are looked at at once when it is planned."""
HEADER = 24
"""Bytes from the RDW to the end of the subtype."""
_TYPE, _SUBTYPE = 5, 22
DUMP_HEADER = 2
"""SMF type of the record with which a dump begins."""
_NO_TYPE = _TYPE + 1 << 16
"""An RDW below this is that of a segment without the type."""
_LONG = (116 << 16 | 1, 116 << 16 | 2)
"""Kinds of record that are mostly spanned."""
_FIRSTS = {(115, 1), (115, 2), (115, 201), (115, 215), (115, 231), (116, 0), (116, 1), (116, 10)}
"""Records that have a clock of their own and go on from no other."""

_TIME = 6
"""Where the time is in the SMF header, and behind it the date."""
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

    def where(self, keep: NDArray[np.bool_] | Ints | slice) -> Chunk:
        """Return the chunk with the records for which `keep` is true, or with those places."""
        places = (self.start, self.length, self.offset, self.record_no)
        return Chunk(self.source, self.buffer, *(each[keep] for each in places))


@dataclass(frozen=True)
class Part:
    """A range of a source that starts where a record does.

    start      byte of its first RDW
    end        byte behind its last record; None: to the end of the source
    record_no  number of its first record
    records    how many it has; None: not known
    dumps      whether a dump that is not the first of the source may begin before `end`; where that
               is None, whether one does is not known
    """

    start: int
    end: int | None
    record_no: int
    records: int | None = None
    dumps: bool = False

    @property
    def rest(self) -> Part:
        """The range from here to the end of the source."""
        return Part(self.start, None, self.record_no)


WHOLE_SOURCE = Part(0, None, 1)


def chunks(
    path: Path,
    damage: DamageLog,
    part: Part = WHOLE_SOURCE,
    chunk_bytes: int | None = None,
    kinds: Ints | None = None,
) -> Generator[Chunk, None, None]:
    """Read a part of the SMF file `path` in constant memory.

    chunk_bytes  about the bytes of a chunk; CHUNK_BYTES unless told otherwise
    kinds        those (as of `kinds_of`) of which more than the header is looked at: others may
                 stay in pieces; None: all

    What cannot be used is noted in `damage`. Raises InputError where nothing can be used: the file
    is missing, unreadable, empty, or does not start with an SMF record behind an RDW.
    """
    try:
        with path.open("rb", buffering=0) as stream:
            capacity = _capacity(chunk_bytes)
            yield from _RdwReader(str(path), stream, damage, part, capacity, kinds)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error


def size_of(path: Path) -> int:
    """Return the bytes of a file. Raises InputError where it cannot be read."""
    try:
        return path.stat().st_size
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error


def _capacity(chunk_bytes: int | None) -> int:
    """Return how many bytes are looked at at once: a spanned record always fits twice."""
    return max(CHUNK_BYTES if chunk_bytes is None else chunk_bytes, 2 * MAX_RECORD)


def plan(path: Path, part_bytes: int, chunk_bytes: int | None = None) -> list[Part]:
    """Cut the SMF file `path` into parts of about `part_bytes`; their union is the whole file.

    A part starts where a chunk of the whole file does, so its chunks are those of the whole file.
    What is done with damage, and in which order it is noted, depends on nothing else.

    Only the RDWs are looked at, once; behind the first that is not sound, the file is not cut any
    more. Raises InputError where the file cannot be read.
    """
    size = size_of(path)
    if size <= part_bytes:
        return [WHOLE_SOURCE]
    try:
        with path.open("rb") as stream:
            cuts = _cuts(stream, size, part_bytes, _capacity(chunk_bytes))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error
    if not cuts:
        return [WHOLE_SOURCE]
    starts = [(0, 1, False), *cuts]
    parts = [
        Part(start, end, first, following - first, dumps)
        for (start, first, _), (end, following, dumps) in itertools.pairwise(starts)
    ]
    return [*parts, Part(starts[-1][0], None, starts[-1][1])]


def _cuts(
    stream: BinaryIO, size: int, part_bytes: int, capacity: int
) -> list[tuple[int, int, bool]]:
    """Return where to cut, as far as the segments are sound.

    That is the place, the number of the record there, and whether before it may be a dump header
    that is not the first record: one whose type is not in its first segment may be.
    """
    cuts: list[tuple[int, int, bool]] = []
    dumps = False
    due = least = max(part_bytes - capacity // 2, 1)  # so that the nearest chunk is taken
    at, first, number, full, expected = 0, 0, 0, capacity, 0
    for base in range(0, size, _WINDOW):
        length = min(_WINDOW + mmap.ALLOCATIONGRANULARITY, size - base)
        with mmap.mmap(stream.fileno(), length, access=mmap.ACCESS_READ, offset=base) as data:
            end = min(base + _WINDOW, size - _TYPE)
            while at < end:
                word, smf_type = _WORD_AND_TYPE.unpack_from(data, at - base)
                later = word & _LATER
                if word & _NEVER or word < _LEAST or later != expected:
                    return cuts
                expected = word << 1 & _LATER  # the code is odd in segments that are not the last
                if not later:
                    dumps |= number > 0 and (smf_type == DUMP_HEADER or word < _NO_TYPE)
                    number += 1
                    first = at
                at += word >> 16
                if at > full:  # the record is the first one that this chunk does not have
                    if at - first > MAX_RECORD:
                        return cuts
                    full = first + capacity
                    if first >= due and _can_start(stream, first):
                        cuts.append((first, number, dumps))
                        due = first + least
    return cuts


def _can_start(stream: BinaryIO, at: int) -> bool:
    """Whether a part may start with a record: it has to know nothing of those before it.

    Any may; but a part that starts with one that does not mostly spares a look back.
    """
    stream.seek(at)
    header = stream.read(HEADER)
    return len(header) == HEADER and (header[_TYPE], int.from_bytes(header[_SUBTYPE:])) in _FIRSTS


@dataclass(frozen=True)
class _Segments:
    """The segments in a buffer, all whole, and what follows the last of them.

    at      int64 (segments,): position of the RDW in the buffer
    length  int64 (segments,): RDW included
    code    uint8 (segments,): WHOLE, FIRST, LAST or MIDDLE
    end     position behind the last segment
    broken  whether there is something else than a segment at `end`
    """

    at: Ints
    length: Ints
    code: NDArray[np.uint8]
    end: int
    broken: bool


class _RdwReader:
    """The RDW stream: `LL LL S 00` in front of every segment, LL with these 4 bytes."""

    def __init__(
        self,
        source: str,
        stream: BinaryIO,
        damage: DamageLog,
        part: Part,
        capacity: int,
        kinds: Ints | None,
    ) -> None:
        self.source = source
        self.stream = stream
        self.damage = damage
        self.capacity = capacity
        self.buffer: Bytes = np.zeros(0, np.uint8)
        self.view = memoryview(self.buffer.data)
        self.base = part.start
        """Byte of the source that buffer[0] is."""
        self.count = part.record_no - 1
        """Number of the last record given."""
        self.end = part.end
        self.kinds = kinds
        self.reads = False
        """Whether the buffer is read into; it is a map of the file before."""
        self.stopped: Damage | None = None
        """Why the reading ends before the source does."""
        status = os.fstat(stream.fileno())
        self.size = status.st_size if stat.S_ISREG(status.st_mode) else None

    def __iter__(self) -> Iterator[Chunk]:
        held = 0
        while self.stopped is None:
            held, end = self._look(held)
            if end == held:
                self._finish(held)
                return
            segments = self._walk(end)
            start, length, offset, used = self._records(segments)
            if segments.broken:
                self._stop(segments.end, end)
            chunk = self._chunk(start, length, offset)
            if chunk.start.size:
                yield chunk
            held = end - used
            if self.reads:
                self.buffer[:held] = self.buffer[used:end]
            self.base += used
        self.damage.add(self.stopped)

    def _look(self, held: int) -> tuple[int, int]:
        """Bring the bytes from `base` on into the buffer; return how many were there, and the end.

        Where no long records are asked for they are mapped, far from the end of the file: that
        copies nothing and touches only what is looked at. To make spanned records contiguous in a
        map costs more than reading them.
        """
        limit = self.size if self.end is None else self.end
        far = limit is not None and self.base + self.capacity + SLACK <= limit
        if far and are_short(self.kinds):
            self._use(self._mapped())
            return 0, self.capacity
        if not self.reads:
            self._use(np.zeros(self.capacity + SLACK, np.uint8))
            self.reads, held = True, 0
            if self.base:
                self.stream.seek(self.base)
        return held, self._fill(held)

    def _mapped(self) -> Bytes:
        start = self.base - self.base % mmap.ALLOCATIONGRANULARITY
        length = self.base - start + self.capacity + SLACK
        mapped = mmap.mmap(self.stream.fileno(), length, access=mmap.ACCESS_COPY, offset=start)
        return np.frombuffer(mapped, np.uint8)[self.base - start :]

    def _use(self, buffer: Bytes) -> None:
        self.buffer, self.view = buffer, memoryview(buffer.data)

    def _fill(self, end: int) -> int:
        """Read until the buffer is full or the source ends; return the new end of the data."""
        room = self.capacity if self.end is None else min(self.capacity, self.end - self.base)
        while end < room:
            got = self.stream.readinto(self.view[end:room])  # type: ignore[attr-defined]
            if not got:
                break
            end += got
        return end

    def _walk(self, end: int) -> _Segments:
        """Follow the chain of RDWs in buffer[:end]."""
        unpack, view = _WORD.unpack_from, self.view
        found: list[int] = []
        add, limit = found.append, end - RDW.size
        at, broken = 0, False
        while at <= limit:
            (word,) = unpack(view, at)
            if word & _NEVER or word < _LEAST:
                broken = True
                break
            add(at)
            at += word >> 16
        if at > end:
            at = found.pop()
        places = np.array(found, np.int64)
        words = np.ndarray((self.buffer.size - 3,), ">u4", self.buffer, strides=(1,))[places]
        code = (words >> 8 & MIDDLE).astype(np.uint8)
        return _Segments(places, (words >> 16).astype(np.int64), code, at, broken)

    def _records(self, found: _Segments) -> tuple[Ints, Ints, Ints, int]:
        """Return start, length and offset of the records, and up to where the bytes are used.

        A spanned record is made contiguous. One that goes on behind the buffer is left there.
        """
        if not found.code.any():
            return found.at, found.length, self.base + found.at, found.end
        begins = (found.code == WHOLE) | (found.code == FIRST)
        goes_on = (found.code == FIRST) | (found.code == MIDDLE)
        first = np.flatnonzero(begins | ~np.append(False, goes_on[:-1]))
        last = np.append(first[1:], len(begins)) - 1
        size = found.at[last] + found.length[last] - found.at[first]
        good = begins[first] & ~goes_on[last] & (size <= MAX_RECORD)
        end = found.end
        if begins[first[-1]] and goes_on[last[-1]] and size[-1] <= MAX_RECORD and not found.broken:
            end = int(found.at[first[-1]])
            first, last, size, good = first[:-1], last[:-1], size[:-1], good[:-1]
        for index in np.flatnonzero(~good):
            orphan = not begins[first[index]]
            self._lost(int(found.at[first[index]]), int(size[index]), orphan=orphan)
        first, last = first[good], last[good]
        start, length = self._join(found, first, last, size[good] - (last - first) * RDW.size)
        return start, length, self.base + found.at[first], end

    def _join(self, found: _Segments, first: Ints, last: Ints, length: Ints) -> tuple[Ints, Ints]:
        """Make the records of the segments `first` to `last` contiguous; return start and length.

        Of two pieces the shorter one is moved; of more, all up against the last.
        """
        start = found.at[first]
        several = last > first
        if self.kinds is not None:
            whole_header = found.length[first] >= HEADER
            several &= np.isin(kinds_of(self.buffer, start), self.kinds) | ~whole_header
        pairs = np.flatnonzero(several & (last == first + 1))
        head, tail = found.length[first[pairs]], found.length[last[pairs]] - RDW.size
        behind = start[pairs] + head
        self._move(behind + RDW.size, behind, np.where(head > tail, tail, 0))
        self._move(start[pairs], start[pairs] + RDW.size, np.where(head > tail, 0, head))
        start[pairs] += np.where(head > tail, 0, RDW.size)
        for index in np.flatnonzero(several & (last > first + 1)):
            pieces = slice(first[index], last[index] + 1)
            start[index] = self._pushed(found.at[pieces].tolist(), found.length[pieces].tolist())
        return start, length

    def _move(self, source: Ints, target: Ints, size: Ints) -> None:
        view, some = self.view, size > 0
        moves = source[some], target[some], size[some]
        for old, new, length in zip(*(each.tolist() for each in moves), strict=True):
            view[new : new + length] = view[old : old + length]

    def _pushed(self, places: list[int], lengths: list[int]) -> int:
        """Push pieces up against the last one, without their RDWs but the first; return where."""
        at = places[-1] + RDW.size
        for number in range(len(places) - 2, -1, -1):
            skip = RDW.size if number else 0
            size = lengths[number] - skip
            piece = places[number] + skip
            self.view[at - size : at] = self.view[piece : piece + size]
            at -= size
        return at

    def _chunk(self, start: Ints, length: Ints, offset: Ints) -> Chunk:
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

    def _stop(self, at: int, end: int) -> None:
        zeros = not self.view[at:end].tobytes().strip(b"\0")
        reason = "zero bytes where a record should start" if zeros else NO_RECORD
        self._stop_at(self.base + at, reason)

    def _lost(self, at: int, size: int, *, orphan: bool) -> None:
        why = "its last segment is missing"
        if orphan:
            why = "a later segment without its first one"
        elif size > MAX_RECORD:
            why = f"longer than {MAX_RECORD} bytes"
        reason = f"spanned record lost: {why}"
        self.damage.add(Damage(self.source, self.base + at, size, reason))

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


def are_short(kinds: Ints | None) -> bool:
    """Whether records of these kinds (None: all) are in one piece, mostly, and few."""
    return kinds is not None and not np.isin(kinds, _LONG).any()


def kinds_of(buffer: Bytes, start: Ints) -> Ints:
    """Return type << 16 | subtype of records, by their headers."""
    kinds: Ints = buffer[start + _TYPE].astype(np.int64) << 16
    kinds |= buffer[start + _SUBTYPE].astype(np.int64) << 8
    kinds |= buffer[start + _SUBTYPE + 1]
    return kinds


def _plausible(buffer: Bytes, start: Ints, length: Ints) -> NDArray[np.bool_]:
    """Whether each record has the time and packed date that every SMF header has."""
    words = np.ndarray((buffer.size - 7,), ">u8", buffer, strides=(1,))[start + _TIME]
    time, date = words >> 32, words & 0xFFFFFFFF
    digits = date >> 4
    tens = (digits + 0x6666666 ^ digits) & 0x11111110
    good: NDArray[np.bool_] = (length >= SMF_HEADER) & (time < _DAY_HUNDREDTHS)
    good &= (tens == 0) & (date & 15 >= 10)
    return good
