"""Output and input of the reader: logical records in a buffer, and ranges of a source."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from smfparse.reading.headers import begins_dump
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
    """The place of the data of records in the decompressed source: pieces between descriptor words.

    first, final  int64 (records,): first and last piece of each record
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
    offset     int64 (records,): offset of the record, or of its prefix, in the decompressed source
    record_no  int64 (records,): 1-based logical record in the source
    begin      offset in the decompressed source of the bytes that lead to the first record
    numbered   False in a blind range: record_no counts from the first record of the range
    sources    names of several whole sources; `source` is the first; empty: only one source
    which      int64 (records,): index of the source of each record; empty: only one source
    pieces     places of the records in the source; None: unknown, for example with FTP escapes
    read       number of bytes of the file, maybe compressed, that were read up to this chunk
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
    """The records of several sources, read to their ends, as one chunk.

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
        """Return the chunk, valid until the next `add`; empty: no records."""
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

    start      offset of the bytes that lead to the first record
    end        offset of the end of the last record; None: end of the source
    record_no  number of the first record
    records    number of records; None: unknown
    dumps      whether a dump other than the first dump of the source can begin before `end`; not
               used if `end` is None
    back       start of a chunk, and number of its first record, from which earlier records can be
               read that records of the range require
    dump       number of the first record of the dump that contains the first record, unless the
               first record begins a dump

    If record_no is None, the range is blind: the starts of records are unknown. A blind range
    contains the records that start in it: the first record must be searched, and numbers are
    unknown.
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
        """The blind range with `size` more bytes on both sides; otherwise the whole source."""
        if self.record_no is not None:
            return WHOLE_SOURCE
        end = None if self.end is None else self.end + size
        return Part(max(self.start - size, 0), end, None)


WHOLE_SOURCE = Part(0, None, 1)


def with_dumps(found: Iterable[Chunk], part: Part) -> Iterator[Chunk]:
    """Yield the chunks of a part, with the dump of each record."""
    last = part.dump
    for chunk in found:
        begins = begins_dump(chunk.buffer, chunk.start)
        dump = np.maximum.accumulate(np.where(begins, chunk.record_no, last))
        last = int(dump[-1]) if dump.size else last
        yield chunk._replace(dump=dump)


def are_short(kinds: Ints | None) -> bool:
    """Whether records of these kinds (None: all kinds) are usually not spanned, and few."""
    return kinds is not None and not np.isin(kinds, _LONG).any()
