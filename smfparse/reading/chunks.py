"""Input and output of the reader: ranges of a source, bytes in memory, and chunks of records."""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from smfparse.errors import Damage, DamageLog
from smfparse.limits import Limits
from smfparse.reading.headers import begins_dump
from smfparse.reading.packing import Unpacked
from smfparse.reading.segments import RDW_SIZE, Segments
from smfparse.schemas import CONTINUATION, TASK
from smfparse.vectors import Bools, Bytes, Ints

SLACK = 1 << 16
"""Number of readable but unused bytes after the last record: the maximum length of a block."""
_LONG = tuple(smf_type << 16 | subtype for smf_type, subtype in (TASK, CONTINUATION))
"""Kinds of records that are usually spanned."""


_OFFSET_BITS = 40
"""Number of low bits of a place that contain the offset in the source."""
_NO_RECORDS = np.zeros(0, np.int64)
_NO_BYTES = np.zeros(0, np.uint8)
_NO_PRINTS = np.zeros(0, "S16")


class Pieces(NamedTuple):
    """Where the data of records is in the decompressed source: in pieces between descriptor words.

    first, final  int64 (records,): index of the first and of the last piece of each record
    begin         offset in the source of the buffer in which the pieces were found
    found         the pieces in that buffer
    """

    first: Ints
    final: Ints
    begin: int
    found: Segments

    @property
    def at(self) -> Ints:
        """int64 (pieces,): offset of each piece in the source."""
        return self.begin + self.found.at + RDW_SIZE

    @property
    def size(self) -> Ints:
        """int64 (pieces,): bytes of each piece."""
        return self.found.length - RDW_SIZE


class Chunk(NamedTuple):
    """Logical records in one buffer; valid until the next chunk is requested.

    buffer     uint8, with at least SLACK bytes after the last record
    start      int64 (records,): place of the RDW of each record in the buffer, real or virtual
    length     int64 (records,): bytes of the whole record, RDW included
    offset     int64 (records,): offset in the decompressed source of the record, or of its RDW
    record_no  int64 (records,): 1-based logical record in the source
    begin      offset in the decompressed source from which the first record can be read
    numbered   False in a blind range: record_no counts from the first record of the range
    sources    names of several whole sources; `source` is the first; empty: only one source
    which      int64 (records,): index in `sources` for each record; empty: only one source
    pieces     places of the records in the source; None: unknown, for example with FTP escapes
    read       number of bytes read from the file up to this chunk; compressed bytes if packed
    dump       int64 (records,): record_no of the first record of the dump that contains the record;
               empty: not requested
    prints     fingerprints of the records; empty: not computed yet
    """

    source: str
    buffer: Bytes
    start: Ints
    length: Ints
    offset: Ints
    record_no: Ints
    begin: int = 0
    numbered: bool = True
    sources: tuple[str, ...] = ()
    which: Ints = _NO_RECORDS
    pieces: Pieces | None = None
    read: int = 0
    dump: Ints = _NO_RECORDS
    prints: NDArray[np.bytes_] = _NO_PRINTS

    @property
    def place(self) -> Ints:
        """Like `offset`, but unique: the high bits contain the number of the source."""
        return self.offset + (self.which << _OFFSET_BITS) if self.sources else self.offset

    def source_of(self, index: int) -> str:
        """Return the name of the source of a record."""
        return self.sources[self.which[index]] if self.sources else self.source

    def where(self, keep: Bools | Ints | slice) -> Chunk:
        """Return the chunk with the records for which `keep` is true, or with these indices."""
        return self._replace(
            start=self.start[keep],
            length=self.length[keep],
            offset=self.offset[keep],
            record_no=self.record_no[keep],
            which=self.which[keep] if self.sources else self.which,
            dump=self.dump[keep] if self.dump.size else self.dump,
            prints=self.prints[keep] if self.prints.size else self.prints,
            pieces=self.pieces
            and self.pieces._replace(first=self.pieces.first[keep], final=self.pieces.final[keep]),
        )

    @property
    def goes_on_with_a_dump(self) -> bool:
        """Whether a dump other than the first one of its source begins in this chunk."""
        return bool((begins_dump(self.buffer, self.start) & (self.record_no > 1)).any())


def offset_of(place: Ints) -> Ints:
    """Return the offsets of records in their sources, from their places in a chunk."""
    offset: Ints = place & (1 << _OFFSET_BITS) - 1
    return offset


class Joined:
    """Combines the records of several whole sources into one chunk.

    capacity  approximate bytes of records
    """

    def __init__(self, capacity: int) -> None:
        self._buffer: Bytes = np.zeros(capacity + SLACK, np.uint8)
        self._end = 0
        self._sources: list[str] = []
        self._chunks: list[Chunk] = []

    def add(self, chunk: Chunk) -> None:
        """Add a chunk with records: the next chunk of the last source, or the first of a source."""
        if chunk.source not in self._sources[-1:]:
            self._sources.append(chunk.source)
        low, high = int(chunk.start.min()), int((chunk.start + chunk.length).max())
        end = self._end + high - low
        if end + SLACK > self._buffer.size:
            self._buffer = np.append(self._buffer, np.zeros(end + SLACK, np.uint8))
        self._buffer[self._end : end] = chunk.buffer[low:high]
        which = np.full(chunk.start.size, len(self._sources) - 1)
        start = chunk.start - low + self._end
        held = chunk._replace(buffer=_NO_BYTES, start=start, which=which, pieces=None)
        self._chunks.append(held)
        self._end = end

    def take(self) -> list[Chunk]:
        """Return a list with the chunk, valid until the next `add`; []: no records."""
        if not self._chunks:
            return []
        of_records = [
            (c.start, c.length, c.offset, c.record_no, c.which, c.dump, c.prints)
            for c in self._chunks
        ]
        start, length, offset, numbers, which, dump, prints = map(
            np.concatenate, zip(*of_records, strict=True)
        )
        names = tuple(self._sources)
        self._end, self._sources, self._chunks = 0, [], []
        some = Chunk(names[0], self._buffer, start, length, offset, numbers)
        return [some._replace(sources=names, which=which, dump=dump, prints=prints)]


class Part(NamedTuple):
    """A range of a source that starts with a record.

    start      offset from which the first record can be read
    end        offset of the end of the last record; None: end of the source
    record_no  number of the first record
    records    number of records; None: unknown
    dumps      whether a dump other than the first dump of the source can begin before `end`; not
               used if `end` is None
    back       start of an earlier chunk, and number of its first record: the records from there on
               include all earlier records that records of the range require
    dump       number of the first record of the dump that contains the first record, unless the
               first record begins a dump

    If record_no is None, the range is blind: places and numbers of its records are unknown. A blind
    range contains the records that start in it.
    """

    start: int
    end: int | None
    record_no: int | None
    records: int | None = None
    dumps: bool = False
    back: tuple[int, int] = (0, 1)
    dump: int = 1

    @property
    def is_planned(self) -> bool:
        """Whether the number of records is known: the range must contain exactly this number."""
        return self.records is not None

    @property
    def rest(self) -> Part:
        """The range from `start` to the end of the source."""
        return self._replace(end=None, records=None)

    def before(self, size: int) -> Part:
        """A range before this range that contains at least the records of the last `size` bytes.

        A blind range ends at the end of the last record that starts in it.
        """
        if self.record_no is None:
            return Part(max(self.start - size, 0), self.start, None)
        start, record_no = self.back
        return Part(start, self.start, record_no)

    def around(self, size: int) -> Part:
        """A blind range with `size` more bytes on both sides; for other ranges the whole source."""
        if self.record_no is not None:
            return WHOLE_SOURCE
        end = None if self.end is None else self.end + size
        return Part(max(self.start - size, 0), end, None)


WHOLE_SOURCE = Part(0, None, 1)


def with_dumps(found: Iterable[Chunk], part: Part) -> Iterator[Chunk]:
    """Yield the chunks of a part, with the field `dump` of each chunk filled."""
    last = part.dump
    for chunk in found:
        begins = begins_dump(chunk.buffer, chunk.start)
        dump = np.maximum.accumulate(np.where(begins, chunk.record_no, last))
        last = int(dump[-1]) if dump.size else last
        yield chunk._replace(dump=dump)


def are_short(kinds: Ints | None) -> bool:
    """Whether records of these kinds (None: all kinds) are usually few, and not spanned."""
    return kinds is not None and not np.isin(kinds, _LONG).any()


class Window:
    """A window of a source, in memory; it moves from the start of a part to its end.

    For a blind range, the window starts before the range, because a record whose header is in
    pieces is found only from the previous record. A packed source is read from its start.

    buffer    uint8; the bytes of the window start at `low`
    base      offset in the source of the first byte of the window
    capacity  maximum number of bytes of the window
    floor     offset in the source from which records belong to the range
    border    offset in the source from which records belong to the next range; None: no range
              follows, or reading stops at the end of this range
    """

    def __init__(self, data: Unpacked, part: Part, limits: Limits, maps: bool) -> None:
        is_blind = part.record_no is None
        self.buffer: Bytes = np.zeros(0, np.uint8)
        self.low = 0
        self.floor = part.start
        self.base = part.start
        if is_blind:
            self.base = max(part.start - limits.max_spanned, 0) if data.file is not None else 0
        self.capacity = limits.window_bytes
        self.border = part.end if is_blind else None
        self._behind_border = 2 * limits.max_spanned
        self._end = None if is_blind else part.end
        self._data = data
        self._maps = maps
        self._reads = False
        self._room = 0

    @property
    def ends_with_source(self) -> bool:
        """Whether the end of the part is the end of the source."""
        return self._end in (None, self._data.size)

    def offset(self, place: int) -> int:
        """Return the offset in the source of the byte at `place` in the buffer."""
        return self.base + place - self.low

    def goes_on(self, place: int) -> bool:
        """Whether records that start from `place` in the buffer on can belong to the range."""
        return self.border is None or self.offset(place) < self.border

    def owns(self, offset: int) -> bool:
        """Whether byte `offset` of the source belongs to the range."""
        return self.floor <= offset and (self.border is None or offset < self.border)

    def look(self, held: int) -> tuple[int, int, bool]:
        """Fill the window; its buffer already contains the first `held` bytes.

        Return how many of these bytes are still in the buffer (0 for a new buffer), the end of the
        window in the buffer, and whether no data follows. If no spanned records are requested, the
        file is mapped, except near its end: only the used bytes are read, and none are copied.
        Making spanned records contiguous in a map is slower than reading them. After the end of a
        blind range, the window is only as long as a record can be.
        """
        if self.border is not None:
            left = max(self.border - self.base, 0)
            self.capacity = min(self.capacity, left + self._behind_border)
        limit = self._data.size if self._end is None else self._end
        far = limit is not None and self.base + self.capacity + SLACK <= limit
        if far and self._maps and self._data.mapped:
            self.buffer = self._mapped()
            return 0, self.capacity, False
        if not self._reads:
            left = self.capacity if limit is None else max(limit - self.base, 0)
            self._room = min(self.capacity, left)
            self.buffer = np.zeros(RDW_SIZE + self._room + SLACK, np.uint8)
            self.low, self._reads, held = RDW_SIZE, True, 0
            if self.base:
                assert self._data.file is not None
                self._data.file.seek(self.base)
        room = self._room if self._end is None else min(self._room, self._end - self.base)
        at = self.low + held
        end = at + self._data.fill(self.buffer.data[at : max(self.low + room, at)])
        return held, end, end < self.low + self.capacity

    def keep(self, used: int, end: int) -> int:
        """Move the start of the window to `used`; return the number of bytes left before `end`."""
        if self._reads:
            self.buffer[self.low : self.low + end - used] = self.buffer[used:end]
        self.base += used - self.low
        return end - used

    def _mapped(self) -> Bytes:
        assert self._data.file is not None
        start = self.base - self.base % mmap.ALLOCATIONGRANULARITY
        length = self.base - start + self.capacity + SLACK
        mapped = mmap.mmap(self._data.file.fileno(), length, access=mmap.ACCESS_COPY, offset=start)
        return np.frombuffer(mapped, np.uint8)[self.base - start :]


class Losses:
    """Notes about bytes of a source that could not be used."""

    def __init__(self, source: str, window: Window) -> None:
        self._source = source
        self._window = window
        self._found: list[Damage] = []
        self._once = -1

    def note_once(self, places: list[int], reason: str) -> None:
        """Note damage without lost bytes at `places`, ascending in the buffer, once per place."""
        for offset in map(self._window.offset, places):
            if offset > self._once:
                self.note_at(offset, 0, reason)
                self._once = offset

    def note(self, place: int, size: int, reason: str) -> None:
        """Note `size` bytes at `place` in the buffer."""
        self.note_at(self._window.offset(place), size, reason)

    def note_at(self, offset: int, size: int, reason: str) -> None:
        """Note `size` bytes at byte `offset` of the source."""
        self._found.append(Damage(self._source, offset, size, reason))

    def report(self, damage: DamageLog) -> None:
        """Move the notes about the range to `damage`, in the order of their offsets."""
        for each in sorted(self._found, key=lambda each: each.offset):
            if self._window.owns(each.offset):
                damage.add(each)
        self._found.clear()
