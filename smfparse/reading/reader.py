"""Logical records from the bytes of a file, or of a part of a file.

For every framing, the output is a stream of `Chunk`s: a buffer, and the place of each record in it.
`start` is the place of the RDW of a record. If the file has no RDW, it is 4 bytes before the data.
Offsets in triplets count from `start`. Records that were split into segments are contiguous. After
damage, the reader searches for the next record, and notes the skipped bytes.

Parts are read separately, possibly by other processes. A scan of the lengths of records shows where
parts can start. One scan reads the whole file, or independent processes scan one blind range each.
A blind range may start in the middle of a record. Each scan returns the start of the first record
in its range, the number of these records, and the start of the next record. If all scans agree,
their numbers of records add up to the record numbers. Otherwise one scan reads the whole file.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from smfparse.errors import Damage, DamageLog, InputError, RequestError
from smfparse.limits import LIMITS, Limits
from smfparse.reading.chunks import WHOLE_SOURCE, Chunk, Losses, Part, Pieces, Window, are_short
from smfparse.reading.detection import Framing, framing_named, probe
from smfparse.reading.headers import SMF_HEADER, begins_dump, kinds_of, plausible
from smfparse.reading.packing import USUAL_GAIN, Unpacked, is_packed, unpacked
from smfparse.reading.places import Place, Url, place_of, size_at
from smfparse.reading.resync import NO_TIME, Gap, Tracker
from smfparse.reading.segments import Segments, Spans, records
from smfparse.vectors import Bools, Ints


def read_chunks(
    path: Place,
    damage: DamageLog,
    part: Part = WHOLE_SOURCE,
    kinds: Ints | None = None,
    framing: Framing | None = None,
    name: str | None = None,
    limits: Limits = LIMITS,
) -> Generator[Chunk, None, None]:
    """Yield the chunks of a part of the SMF file `path`, in constant memory.

    kinds    kinds of records (as in `kinds_of`) that are read beyond their header: spanned records
             of other kinds may stay in pieces; None: all
    framing  framing of the file; None: it is detected
    name     name of the source; None: its path

    Data that cannot be used is noted in `damage`. Raises InputError if the file is missing,
    unreadable, empty, or has no SMF records; RequestError if the part is blind but the framing must
    be read from the start of the file.
    """
    source = name or str(path)
    if framing is None:
        _, framing = probe(path, name, limits=limits)
    with unpacked(path, name, limits) as data:
        try:
            if data.size == 0:
                raise InputError(f"{source}: the file is empty")
            yield from Reader(source, data, damage, part, kinds, framing, limits)
        except OSError as error:
            raise InputError(f"{source}: {error.strerror or error}") from error


class Reader:
    """Moves a window over a part of a source, walks through each window, and yields its records."""

    def __init__(
        self,
        source: str,
        data: Unpacked,
        damage: DamageLog,
        part: Part,
        kinds: Ints | None,
        framing: Framing,
        limits: Limits,
    ) -> None:
        walk = framing.walk
        self._is_blind = part.record_no is None
        if self._is_blind and not walk.blind:
            raise RequestError(
                f"{source}: a file with framing {framing.name} must be read from its start; read "
                "the whole file"
            )
        self._walk = walk
        self._source = source
        self._data = data
        self._damage = damage
        self._kinds = kinds
        self._max_spanned = limits.max_spanned
        self._count = (part.record_no or 1) - 1
        """Record number of the last record of the previous chunk."""
        self._window = Window(data, part, limits, maps=walk.mapped and are_short(kinds))
        self._losses = Losses(source, self._window)
        base = self._window.base
        gap = Gap(base, foreign=True) if self._is_blind and base else None
        self._tracker = Tracker(walk, self._window, self._losses, gap)

    def __iter__(self) -> Iterator[Chunk]:
        window, held, last = self._window, 0, False
        while not last:
            held, end, last = window.look(held)
            spans, found = self._spans(end, last)
            if spans.used == window.low and end - spans.used >= window.capacity:
                spans, found = self._spans(end, last, stuck=True)
            chunk = self._chunk(spans, found)
            if chunk.start.size:
                yield chunk
            if not window.goes_on(spans.used):
                return
            held = window.keep(spans.used, end)
        if self._data.fault is not None:
            self._damage.add(Damage(self._source, window.base + held, None, self._data.fault))

    def _spans(self, end: int, last: bool, stuck: bool = False) -> tuple[Spans, Segments]:
        """Return the records up to `end` of the buffer, and their segments.

        Records with a missing segment are omitted, and noted as damage.

        stuck  whether the data at the start of the window is longer than the buffer, so that it is
               not a record
        """
        found = self._tracker.follow(end, last, stuck)
        spans = records(self._window.buffer, found, last, self._kinds, self._max_spanned)
        for place, size, reason in spans.lost:
            self._losses.note(place, size, reason)
        if spans.used == found.end:
            return spans, found
        index = int(np.searchsorted(found.place, spans.used))
        used = self._walk.again(self._window.buffer, found, index, self._window.low)
        return spans._replace(used=used), found

    def _chunk(self, spans: Spans, found: Segments) -> Chunk:
        """Return the sound records of this part, with record numbers; note the other records."""
        window, start, length = self._window, spans.start, spans.length
        offset = window.offset(0) + spans.place
        good: Bools = (length >= SMF_HEADER) & plausible(window.buffer, start)
        for index in np.flatnonzero(~good).tolist():
            self._losses.note(int(spans.place[index]), int(spans.size[index]), NO_TIME)
        if self._is_blind:
            good &= offset >= window.floor
        if window.border is not None:
            good &= offset < window.border
        pieces = self._pieces(spans, found)
        if not good.all():
            start, length, offset = start[good], length[good], offset[good]
            pieces = pieces and pieces._replace(first=pieces.first[good], final=pieces.final[good])
        self._losses.report(self._damage)
        numbers = np.arange(self._count + 1, self._count + 1 + start.size)
        self._count += start.size
        return Chunk(
            self._source,
            window.buffer,
            start,
            length,
            offset,
            numbers,
            window.base,
            not self._is_blind,
            pieces=pieces,
            read=self._data.reached(window.offset(spans.used)),
        )

    def _pieces(self, spans: Spans, found: Segments) -> Pieces | None:
        """Return the places of the records in the source; None: the walk has moved their bytes."""
        if self._walk.escaped:
            return None
        return Pieces(spans.first, spans.final, self._window.offset(0), found)


@dataclass(frozen=True)
class Input:
    """An SMF file or a Parquet archive: its place, and the name given by the user.

    once     whether it can be read only once: standard input, a pipe, a device
    packing  the packings of the file, outermost first; (): not packed
    framing  framing of the file; None: not known yet, or a Parquet archive
    copy     owner of the temporary file at `path`, which is deleted with its owner; None: no
             temporary file
    limits   memory limits of its readers
    """

    path: Place
    name: str
    once: bool = False
    packing: tuple[str, ...] = ()
    framing: Framing | None = None
    copy: object = field(default=None, compare=False)
    limits: Limits = field(default=LIMITS, compare=False)

    def chunks(
        self, damage: DamageLog, part: Part = WHOLE_SOURCE, kinds: Ints | None = None
    ) -> Iterator[Chunk]:
        """Yield the chunks of a part of an SMF file, as `read_chunks` does."""
        return read_chunks(self.path, damage, part, kinds, self.framing, self.name, self.limits)


_NOTHING = np.zeros(0, np.int64)
_INDEPENDENT = [
    smf_type << 16 | subtype
    for smf_type, subtypes in ((115, (1, 2, 201, 215, 231)), (116, (0, 1, 10)))
    for subtype in subtypes
]
"""Kinds of records that contain a UTC time, and continue no other record."""


class Mark(NamedTuple):
    """A chunk of a range, as a possible start of a part.

    begin      byte where a part that starts with the chunk begins; None: no part can start with it,
               because it is the first chunk of a blind range
    before     number of records of the range before the chunk
    can_start  whether a part should start with the chunk
    dump       number of records of the range before the last dump that begins in the chunk; None:
               no dump begins in it, except possibly the first dump of the source
    """

    begin: int | None
    before: int
    can_start: bool
    dump: int | None


class Look(NamedTuple):
    """The result of a scan of a range of a file.

    first      byte where the first record of the range starts; None: the range has none
    following  byte where the first record after the range starts; None: no record follows
    marks      the chunks of the range, in order, up to the first damage
    records    number of records that start in the range
    sound      whether the range contains no damage
    """

    first: int | None
    following: int | None
    marks: tuple[Mark, ...]
    records: int
    sound: bool


def size_of(path: Place) -> int:
    """Return the decompressed size of a file in bytes, estimated if the file is packed.

    Raises InputError if the file is unreadable.
    """
    try:
        size = size_at(path)
        return size * USUAL_GAIN if is_packed(path) else size
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error


def plan(
    path: str | Path | Url,
    part_bytes: int,
    *,
    framing: Framing | str | None = None,
    limits: Limits = LIMITS,
) -> list[Part]:
    """Divide the SMF file `path` into parts of about `part_bytes`; their union is the whole file.

    A part consists of the same chunks as the whole file, so it yields the same records and damage.

    framing  framing of the file: rdw, bdw, ...; None: it is detected
    limits   memory limits of the scan

    Only the bytes that separate records are read, once. The rest of the file after the first damage
    is not divided, and a packed file is never divided. Raises InputError if the file is unreadable,
    RequestError for an unknown framing.
    """
    if part_bytes < 1:
        raise RequestError(f"part_bytes={part_bytes}: too few bytes; give 1 or more")
    path = place_of(path)
    framing = framing_named(framing) if isinstance(framing, str) else framing
    if not is_cut(path, part_bytes):
        return [WHOLE_SOURCE]
    file = Input(path, str(path), framing=framing, limits=limits)
    return parts_of([look_through(file, WHOLE_SOURCE)], part_bytes, limits)


def is_cut(path: Place, part_bytes: int) -> bool:
    """Whether a file is divided: it is longer than `part_bytes`, and not packed."""
    return size_of(path) > part_bytes and not is_packed(path)


def ranges_of(file: Input, part_bytes: int) -> list[Part]:
    """Return the ranges of a file that are scanned separately: the whole file, or blind ranges.

    file  a file with known framing
    """
    assert file.framing is not None
    if not file.framing.walk.blind:
        return [WHOLE_SOURCE]
    borders = [*range(0, size_of(file.path), part_bytes), None]
    return [Part(start or 0, end, None) for start, end in itertools.pairwise(borders)]


def look_through(file: Input, part: Part) -> Look:
    """Return the result of a scan of the whole file, or of a blind range and the next chunk."""
    marks: list[Mark] = []
    first = following = None
    count = 0
    damage = DamageLog()
    for chunk in file.chunks(damage, part._replace(end=None), _NOTHING):
        if any(each.offset < chunk.begin for each in damage.details):
            break
        inside = chunk.offset < (np.inf if part.end is None else part.end)
        if inside.any():
            first = int(chunk.offset[0]) if first is None else first
            marks.append(_mark(chunk.where(inside), part, count, is_first=not marks))
            count += int(np.count_nonzero(inside))
        if not inside.all():
            following = int(chunk.offset[~inside][0])
            break
    end = following if following is not None else np.inf
    sound = not any(each.offset < end for each in damage.details)
    return Look(first, following, tuple(marks), count, sound)


def _mark(chunk: Chunk, part: Part, before: int, *, is_first: bool) -> Mark:
    """Return the mark of a chunk; `before` is the number of records of the range before it."""
    starts_anywhere = part.start > 0
    later = starts_anywhere | (chunk.record_no > 1)
    dumps = np.flatnonzero(begins_dump(chunk.buffer, chunk.start) & later)
    begin = None if is_first and starts_anywhere else chunk.begin
    return Mark(begin, before, _can_start(chunk), before + int(dumps[-1]) if dumps.size else None)


def parts_of(looks: Sequence[Look], part_bytes: int, limits: Limits = LIMITS) -> list[Part]:
    """Divide a file into parts of about `part_bytes`, by one scan or several scans that agree.

    The rest of the file after the first damage is not divided. The last part has no end.
    """
    starts = [(0, 1, (0, 1), 1)]
    dump = 1
    due = least = max(
        part_bytes - limits.window_bytes // 2, 1
    )  # so the part starts at the nearest chunk
    near = deque[tuple[int, int]]()
    before = list(itertools.accumulate((each.records for each in looks), initial=1))
    counted = zip(before, looks, strict=False)
    numbered = ((first, each) for first, look in counted for each in look.marks)
    for first, mark in numbered:
        if mark.begin is not None:
            near.append((mark.begin, first + mark.before))
            while len(near) > 1 and near[1][0] <= mark.begin - limits.look_back_bytes:
                near.popleft()
            if mark.begin >= due and mark.can_start:
                starts.append((*near[-1], near[0], dump))
                due = mark.begin + least
        if mark.dump is not None:
            dump = first + mark.dump
    parts = [
        Part(start, end, first, following - first, later > 1, back, dump)
        for (start, first, back, dump), (end, following, _, later) in itertools.pairwise(starts)
    ]
    start, first, back, dump = starts[-1]
    return [*parts, Part(start, None, first, back=back, dump=dump)]


def agree(looks: Sequence[Look]) -> bool:
    """Whether scans of consecutive ranges found no damage, and agree on the first record of each.

    Otherwise only a scan of the whole file shows where it can be divided, because damage must be
    read in the chunks of the whole file.
    """
    edges = [(before.following, after.first) for before, after in itertools.pairwise(looks)]
    return all(each.sound for each in looks) and all(
        place is not None and place == first for place, first in edges
    )


def _can_start(chunk: Chunk) -> bool:
    """Whether a part should start with a chunk: the first record depends on no earlier record.

    A part can start with any chunk, but an independent first record saves reads before the part.
    """
    return bool(np.isin(kinds_of(chunk.buffer, chunk.start[:1]), _INDEPENDENT)[0])
