"""The output and input of the reader: logical records in a buffer, and ranges of a source."""

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
"""Bytes behind the last record that may be read (not used): no block is longer."""
_LONG = tuple(smf_type << 16 | subtype for smf_type, subtype in (TASK, CONTINUATION))
"""Kinds of record that are mostly spanned."""


_FAR = 40
"""Bits of a place that are a byte of a source."""
_NO_RECORDS = np.zeros(0, np.int64)
_NO_BYTES = np.zeros(0, np.uint8)
_NO_PRINTS = np.zeros(0, "S16")


class Pieces(NamedTuple):
    """Where the data of records is in the unpacked source: pieces between descriptor words.

    first, final  int64 (records,): which pieces each record has, both of them as well
    begin         byte of the source where the buffer begins in which they were found
    found         the pieces there
    """

    first: Ints
    final: Ints
    begin: int
    found: Segments

    @property
    def at(self) -> Ints:
        """int64 (pieces,): the byte of the source at which each piece starts."""
        return self.begin + self.found.at + RDW_SIZE

    @property
    def size(self) -> Ints:
        """int64 (pieces,): bytes of each."""
        return self.found.length - RDW_SIZE


class Chunk(NamedTuple):
    """Logical records in one buffer; valid until the next chunk is asked for.

    buffer     uint8, with at least SLACK bytes behind the last record
    start      int64 (records,): where each record's RDW is, or would be, in the buffer
    length     int64 (records,): bytes of the whole record, RDW included
    offset     int64 (records,): byte of the unpacked source where the record starts, or its prefix
    record_no  int64 (records,): 1-based logical record in the source
    begin      byte of the unpacked source where the bytes that lead to the first record start
    numbered   False in a blind range: record_no counts from the first record of the range
    sources    where records are of several whole sources, the names of these; `source` is the first
    which      int64 (records,): then which of these each record is of
    pieces     where the records are in the source; None: not known, as where FTP has put escapes
    read       bytes of the file, packed as it is, that were read for it and those before
    dump       int64 (records,): record_no of the first record of the dump that each is of; empty
               where that is not asked for
    prints     the fingerprints of its records; empty where nobody has made them yet
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
        """Where each record starts: as `offset`, but records of different sources are far apart."""
        return self.offset + (self.which << _FAR) if self.sources else self.offset

    def source_of(self, index: int) -> str:
        """Return the name of the source of a record."""
        return self.sources[self.which[index]] if self.sources else self.source

    def where(self, keep: Bools | Ints | slice) -> Chunk:
        """Return the chunk with the records for which `keep` is true, or with those places."""
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
        """Whether a dump begins in it that is not the first of its source."""
        return bool((begins_dump(self.buffer, self.start) & (self.record_no > 1)).any())


def offset_of(place: Ints) -> Ints:
    """Return the bytes of their sources at which records start, by their place in a chunk."""
    offset: Ints = place & (1 << _FAR) - 1
    return offset


class Joined:
    """The records of several sources, read to their ends, put together as one chunk.

    capacity  bytes of records, more or less
    """

    def __init__(self, capacity: int) -> None:
        self._buffer: Bytes = np.zeros(capacity + SLACK, np.uint8)
        self._end = 0
        self._sources: list[str] = []
        self._chunks: list[Chunk] = []

    def add(self, chunk: Chunk) -> None:
        """Take the next chunk of the last source, or the first of another; there is a record."""
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
        """Return the chunk, valid until others are added; none where there are no records."""
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
    """A range of a source that starts where a record does.

    start      byte where the bytes that lead to its first record start
    end        byte behind its last record; None: to the end of the source
    record_no  number of its first record
    records    how many it has; None: not known
    dumps      whether a dump that is not the first of the source may begin before `end`; not known
               where `end` is None
    back       where a chunk starts from which on records are read that those of the range have to
               know of, and the number of its first record
    dump       number of the first record of the dump that its first record is of, unless that
               begins one itself

    Where record_no is None the range is blind: it is not known where a record starts. It has the
    records that start in it, the first of which is looked for, and their numbers are not known.
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
        """Whether it is known which records are in the range: it may have no others."""
        return self.records is not None

    @property
    def rest(self) -> Part:
        """The range from here to the end of the source."""
        return self._replace(end=None, records=None)

    def before(self, size: int) -> Part:
        """The range in front of this one that has all records of the last `size` bytes there.

        A blind range ends with the record that starts last, wherever that ends.
        """
        if self.record_no is None:
            return Part(max(self.start - size, 0), self.start, None)
        start, record_no = self.back
        return Part(start, self.start, record_no)

    def around(self, size: int) -> Part:
        """The blind range with `size` more bytes on both sides; of any other the whole source."""
        if self.record_no is not None:
            return WHOLE_SOURCE
        end = None if self.end is None else self.end + size
        return Part(max(self.start - size, 0), end, None)


WHOLE_SOURCE = Part(0, None, 1)


def with_dumps(found: Iterable[Chunk], part: Part) -> Iterator[Chunk]:
    """Yield the chunks of a part, whose records know the dump that they are of."""
    last = part.dump
    for chunk in found:
        begins = begins_dump(chunk.buffer, chunk.start)
        dump = np.maximum.accumulate(np.where(begins, chunk.record_no, last))
        last = int(dump[-1]) if dump.size else last
        yield chunk._replace(dump=dump)


def are_short(kinds: Ints | None) -> bool:
    """Whether records of these kinds (None: all) are in one piece, mostly, and few."""
    return kinds is not None and not np.isin(kinds, _LONG).any()
