"""From the bytes of a file to logical records.

For every framing, the output is a stream of `Chunk`s: a buffer, and the place of each record in it.
`start` is the place of the RDW of a record, real or virtual, so offsets in triplets, which count
from there, can always be added. Records that were split into segments are contiguous. After damage,
the reader searches for the next record, and notes the skipped bytes.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field

import numpy as np

from smfparse.errors import Damage, DamageLog, InputError, RequestError
from smfparse.limits import LIMITS, Limits
from smfparse.places.kinds import Place
from smfparse.reading.chunks import WHOLE_SOURCE, Chunk, Part, Pieces, are_short
from smfparse.reading.detection import Framing, probe
from smfparse.reading.headers import SMF_HEADER, plausible
from smfparse.reading.packing import Unpacked, unpacked
from smfparse.reading.resync import NO_TIME, Gap, Tracker
from smfparse.reading.segments import Segments
from smfparse.reading.spans import Spans, records
from smfparse.reading.window import Losses, Window
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
    """Read a part of the SMF file `path` in constant memory.

    kinds    kinds of records (as in `kinds_of`) that are read beyond their header: spanned records
             of other kinds may stay in pieces; None: all
    framing  of the file; None: it is detected
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

        Records with a missing segment are noted.

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
    """An SMF file or a dataset: its place, and the name given by the user.

    once     whether it can be read only once: standard input, a pipe, a device
    packing  the packings of the file, outermost first; (): not packed
    framing  framing of the file; None: not known yet, or a dataset
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
        """Read a part of an SMF file, as `read_chunks` does."""
        return read_chunks(self.path, damage, part, kinds, self.framing, self.name, self.limits)
