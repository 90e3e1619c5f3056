"""Bytes of a file to logical records.

However the records are told apart, what leaves this room is a stream of `Chunk`s: a buffer, and for
each record where it starts in it. `start` is where the record's RDW is, or would be, so the offsets
in triplets, which count from there, always add; records that were split into segments are
contiguous. Behind damage the next record is looked for, and what was passed over is noted.
"""

from __future__ import annotations

import itertools
import mmap
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from smfparse.errors import Damage, DamageLog, InputError, RequestError
from smfparse.reading.detection import (
    Framing,
    are_heads,
    detect,
    hides_record,
    holds_records,
    is_translated,
    next_record,
)
from smfparse.reading.headers import (
    SMF_HEADER,
    SUBTYPE_END,
    begins_dump,
    kinds_of,
    plausible,
    told_length,
)
from smfparse.reading.packing import USUAL_GAIN, Unpacked, is_packed, unpacked
from smfparse.reading.walks import FIRST, LAST, MIDDLE, RDW_SIZE, WHOLE, Segments, line_end
from smfparse.vectors import Bools, Bytes, Ints

CHUNK_BYTES = 16 << 20
MAX_RECORD = 1 << 20
"""No spanned record grows beyond this: SMF itself stops at 32,756 bytes."""
SLACK = 1 << 16
"""Bytes behind the last record that may be read (not used): no block is longer."""
HEAD_BYTES = 1 << 20
"""Bytes at the start of a file by which its framing is told."""
_TAIL = 4 * RDW_SIZE + SMF_HEADER
"""Bytes at the end of the buffer in which no record can be told by its header yet."""
_NOTHING = np.zeros(0, np.int64)
NO_RECORD = "no SMF record starts here"
NO_TIME = "the SMF header has no time or date; the record is skipped"
_ZEROS = "zero bytes where a record should start"
_WRONG_LENGTH = "the record that starts here has a length that leads to no other record"
_NO_BLOCK = "a block descriptor word that does not fit its block"
_LINE_END = "a line end behind a record, as a transfer in text mode adds"
_LINE_ENDS = "line ends, one behind a record each, as a transfer in text mode adds"
_LONG = (116 << 16 | 1, 116 << 16 | 2)
"""Kinds of record that are mostly spanned."""
_FIRSTS = [
    smf_type << 16 | subtype
    for smf_type, subtypes in ((115, (1, 2, 201, 215, 231)), (116, (0, 1, 10)))
    for subtype in subtypes
]
"""Kinds of record that have a clock of their own and go on from no other."""


@dataclass(frozen=True)
class Chunk:
    """Logical records in one buffer; valid until the next chunk is asked for.

    buffer     uint8, with at least SLACK bytes behind the last record
    start      int64 (records,): where each record's RDW is, or would be, in the buffer
    length     int64 (records,): bytes of the whole record, RDW included
    offset     int64 (records,): byte of the unpacked source where the record starts, or its prefix
    record_no  int64 (records,): 1-based logical record in the source
    begin      byte of the unpacked source where what leads to the first record starts
    numbered   False in a blind range: record_no counts from the first record of the range
    """

    source: str
    buffer: Bytes
    start: Ints
    length: Ints
    offset: Ints
    record_no: Ints
    begin: int = 0
    numbered: bool = True

    def where(self, keep: Bools | Ints | slice) -> Chunk:
        """Return the chunk with the records for which `keep` is true, or with those places."""
        return replace(
            self,
            start=self.start[keep],
            length=self.length[keep],
            offset=self.offset[keep],
            record_no=self.record_no[keep],
        )

    @property
    def goes_on_with_a_dump(self) -> bool:
        """Whether a dump begins in it that is not the first of its source."""
        return bool((begins_dump(self.buffer, self.start) & (self.record_no > 1)).any())


@dataclass(frozen=True)
class Part:
    """A range of a source that starts where a record does.

    start      byte where what leads to its first record starts
    end        byte behind its last record; None: to the end of the source
    record_no  number of its first record
    records    how many it has; None: not known
    dumps      whether a dump that is not the first of the source may begin before `end`; where that
               is None, whether one does is not known

    Where record_no is None the range is blind: nothing is known of what starts where. It has the
    records that start in it, the first of which is looked for, and their numbers are not known.
    """

    start: int
    end: int | None
    record_no: int | None
    records: int | None = None
    dumps: bool = False

    @property
    def is_planned(self) -> bool:
        """Whether it is known what is in the range: nothing else may be."""
        return self.records is not None

    @property
    def rest(self) -> Part:
        """The range from here to the end of the source."""
        return replace(self, end=None, records=None)


WHOLE_SOURCE = Part(0, None, 1)


def chunks(
    path: Path,
    damage: DamageLog,
    part: Part = WHOLE_SOURCE,
    chunk_bytes: int | None = None,
    kinds: Ints | None = None,
    framing: Framing | None = None,
    name: str | None = None,
) -> Generator[Chunk, None, None]:
    """Read a part of the SMF file `path` in constant memory.

    chunk_bytes  about the bytes of a chunk; CHUNK_BYTES unless told otherwise
    kinds        those (as of `kinds_of`) of which more than the header is looked at: others may
                 stay in pieces; None: all
    framing      how its records are told apart; None: that is detected
    name         what to call the source; its path unless told otherwise

    What cannot be used is noted in `damage`. Raises InputError where nothing can be used: the file
    is missing, unreadable, empty, or there are no SMF records in it; RequestError where the part is
    blind and such a file has to be read from its start.
    """
    source = name or str(path)
    if framing is None:
        _, framing = look_at(path, name)
    with unpacked(path, name) as data:
        try:
            if not path.stat().st_size:
                raise InputError(f"{source}: the file is empty")
            reader = _Reader(source, data, damage, part, _capacity(chunk_bytes), kinds, framing)
            yield from reader
        except OSError as error:
            raise InputError(f"{source}: {error.strerror or error}") from error


def look_at(
    path: Path, name: str | None = None, framing: Framing | None = None
) -> tuple[tuple[str, ...], Framing]:
    """Tell by the first bytes of an SMF file how it is packed, and its records are told apart.

    framing  what is known of that; None: it is detected

    Raises InputError where it is missing, unreadable, empty, or has no SMF records.
    """
    source = name or str(path)
    buffer = np.zeros(RDW_SIZE + HEAD_BYTES + SLACK, np.uint8)
    with unpacked(path, name) as data:
        try:
            end = _fill(data, buffer, RDW_SIZE, RDW_SIZE + HEAD_BYTES)
        except OSError as error:
            raise InputError(f"{source}: {error.strerror or error}") from error
        if end == RDW_SIZE:
            raise InputError(f"{source}: {data.fault or 'the file is empty'}")
        last = end < RDW_SIZE + HEAD_BYTES
        framing = framing or detect(buffer, RDW_SIZE, end, last)
        if framing is None:
            raise _no_dump(source, buffer[RDW_SIZE:end].tobytes())
        return data.packing, framing


def _no_dump(source: str, head: bytes) -> InputError:
    """Return the error of a file that starts with `head` and is no SMF dump."""
    if is_translated(head):
        return InputError(
            f"{source}: the names of MQ control blocks are in it as ASCII text: it was translated "
            "when it was transferred, and the numbers in it are lost. Transfer the dump again, in "
            "binary (FTP: binary, quote site rdw)."
        )
    return InputError(
        f"{source}: no SMF records in it. It has to be the binary copy of an SMF dump, as IFASMFDP "
        "or IFASMFDL writes it (FTP: binary, quote site rdw); not one that AMATERSE or XMIT packed."
    )


def size_of(path: Path) -> int:
    """Return the bytes of a file, about those of what is packed in it.

    Raises InputError where it cannot be read.
    """
    try:
        size = path.stat().st_size
        return size * USUAL_GAIN if is_packed(path) else size
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error


def _capacity(chunk_bytes: int | None) -> int:
    """Return how many bytes are looked at at once: a spanned record always fits twice."""
    return max(CHUNK_BYTES if chunk_bytes is None else chunk_bytes, 2 * MAX_RECORD)


def _fill(data: Unpacked, buffer: Bytes, at: int, end: int) -> int:
    """Read into buffer[at:end] what there is; return where it ends."""
    view = memoryview(buffer.data)
    while at < end:
        got = data.readinto(view[at:end])
        if not got:
            break
        at += got
    return at


def plan(
    path: str | Path,
    part_bytes: int,
    chunk_bytes: int | None = None,
    framing: Framing | None = None,
) -> list[Part]:
    """Cut the SMF file `path` into parts of about `part_bytes`; their union is the whole file.

    A part starts where a chunk of the whole file does, so its chunks are those of the whole file.
    What is done with damage, and in which order it is noted, depends on nothing else.

    Only what tells the records apart is looked at, once; behind the first damage the file is not
    cut any more, and a packed one nowhere. Raises InputError where the file cannot be read.
    """
    if part_bytes < 1:
        raise RequestError(f"parts of {part_bytes} bytes: at least one")
    path = Path(path)
    if size_of(path) <= part_bytes or is_packed(path):
        return [WHOLE_SOURCE]
    starts = [(0, 1, False)]
    dumps = False
    due = least = max(part_bytes - _capacity(chunk_bytes) // 2, 1)  # so the nearest chunk is taken
    damage = DamageLog()
    for chunk in chunks(path, damage, WHOLE_SOURCE, chunk_bytes, _NOTHING, framing):
        if any(each.offset < chunk.begin for each in damage.details):
            break
        if chunk.begin >= due and _can_start(chunk):
            starts.append((chunk.begin, int(chunk.record_no[0]), dumps))
            due = chunk.begin + least
        dumps = dumps or chunk.goes_on_with_a_dump
    parts = [
        Part(start, end, first, following - first, dumps)
        for (start, first, _), (end, following, dumps) in itertools.pairwise(starts)
    ]
    return [*parts, Part(starts[-1][0], None, starts[-1][1])]


def _can_start(chunk: Chunk) -> bool:
    """Whether a part may start with a chunk: its first record has to know nothing of those before.

    Any may; but a part that starts with one that does not mostly spares a look back.
    """
    return bool(np.isin(kinds_of(chunk.buffer, chunk.start[:1]), _FIRSTS)[0])


class _Reader:
    """Fills a buffer again and again, walks through it and gives the records."""

    def __init__(
        self,
        source: str,
        data: Unpacked,
        damage: DamageLog,
        part: Part,
        capacity: int,
        kinds: Ints | None,
        framing: Framing,
    ) -> None:
        self.source = source
        self.data = data
        self.damage = damage
        self.capacity = capacity
        self.buffer: Bytes = np.zeros(0, np.uint8)
        self.view = memoryview(self.buffer.data)
        self.low = 0
        """Where in the buffer the data starts."""
        self.base = part.start
        """Byte of the source that is at `low`."""
        self.blind = part.record_no is None
        if self.blind and not framing.walk.blind:
            raise RequestError(f"{source}: {framing.name} cannot be read from the middle")
        self.count = (part.record_no or 1) - 1
        """Number of the last record given."""
        self.part_end = part.end
        self.end = None if self.blind else part.end
        """Byte of the source that is not read any more; None: all is."""
        self.kinds = kinds
        self.walk = framing.walk
        self.reads = False
        """Whether the buffer is read into; it is a map of the file before."""
        self.lost: int | None = self.base if self.blind else None
        """Byte of the source from which on a record is looked for; None: one is expected."""
        self.zeros = self.cut = self.headed = False
        """Whether what was passed over since is zero; is left of a record; begins as one."""
        self.quiet = self.blind
        """Whether what is passed over is no damage: it belongs to the range before."""
        self.found: list[Damage] = []
        """What could not be used of the data in the buffer."""

    def __iter__(self) -> Iterator[Chunk]:
        held, last = 0, False
        while not last:
            held, end, last = self._look(held)
            found = self._walked(end, last)
            start, length, place, used = self._records(found, last)
            if used == self.low and end - used >= self.capacity:
                found = self._walked(end, last, stuck=True)
                start, length, place, used = self._records(found, last)
            chunk = self._chunk(start, length, place)
            if chunk.start.size:
                yield chunk
            if self.blind and self.part_end is not None and self._offset(used) >= self.part_end:
                return
            held = end - used
            if self.reads:
                self.buffer[self.low : self.low + held] = self.buffer[used:end]
            self.base += used - self.low
        if self.data.fault is not None:
            self.damage.add(Damage(self.source, self.base + held, None, self.data.fault))

    def _look(self, held: int) -> tuple[int, int, bool]:
        """Bring the bytes from `base` on into the buffer.

        Return how many were there, where they end, and whether nothing follows. Where no long
        records are asked for they are mapped, far from the end of the file: that copies nothing and
        touches only what is looked at. To make spanned records contiguous in a map costs more than
        reading them. Behind the end of a blind range only as much is looked at as a record needs.
        """
        if self.blind and self.part_end is not None:
            left = max(self.part_end - self.base, 0)
            self.capacity = min(self.capacity, left + 2 * MAX_RECORD)
        limit = self.data.size if self.end is None else self.end
        far = limit is not None and self.base + self.capacity + SLACK <= limit
        if far and self.walk.mapped and self.data.file is not None and are_short(self.kinds):
            self._use(self._mapped())
            return 0, self.capacity, False
        if not self.reads:
            self._use(np.zeros(RDW_SIZE + self.capacity + SLACK, np.uint8))
            self.low, self.reads, held = RDW_SIZE, True, 0
            if self.base:
                assert self.data.file is not None
                self.data.file.seek(self.base)
        room = self.capacity if self.end is None else min(self.capacity, self.end - self.base)
        end = _fill(self.data, self.buffer, self.low + held, self.low + room)
        return held, end, end < self.low + self.capacity

    def _mapped(self) -> Bytes:
        assert self.data.file is not None
        start = self.base - self.base % mmap.ALLOCATIONGRANULARITY
        length = self.base - start + self.capacity + SLACK
        mapped = mmap.mmap(self.data.file.fileno(), length, access=mmap.ACCESS_COPY, offset=start)
        return np.frombuffer(mapped, np.uint8)[self.base - start :]

    def _use(self, buffer: Bytes) -> None:
        self.buffer, self.view = buffer, memoryview(buffer.data)

    def _walked(self, end: int, last: bool, stuck: bool = False) -> Segments:
        """Walk through buffer[low:end], again and again behind what is no segment.

        stuck  whether what starts at `low` is longer than the buffer, so that it is no record

        What is passed over is noted. Where the last segments are not sure to be what they seem, the
        walk ends in front of them, to start there when more data is in the buffer.
        """
        if not self.walk.chained:
            return self._picked(end, last or stuck)
        at, runs = self.low, []
        if self.lost is not None:
            at, sure = self._next(at, end, last)
            self._pass_over(self.low, at, sure, last)
        while self.lost is None:
            walked = self.walk.segments(self.buffer, at, end, last)
            run = self._sound(walked)
            self._note_gaps([gap for gap in run.gaps if gap[0] < run.end and self._has(gap[0])])
            if not run.broken and not stuck and (not last or run.end == end):
                run = run if last else self._confirmed(run, end)
                runs.append(run)
                at = run.end
                if walked.short and self.end in (None, self.data.size):
                    self._note(
                        at, 0, f"the file is cut: its last block has {walked.short} bytes more"
                    )
                break
            run, at = self._stray(run, at, end, last, walked.end if walked.broken else None)
            runs.append(run)
            stuck = False
        return _together(runs, at)

    def _sound(self, run: Segments) -> Segments:
        """Return the segments that belong to records that start as they should.

        One that does not is passed over where the chain leads to a whole one that does; where it
        leads to no such one, or it may be a block, the run ends in front of it.
        """
        heads = run.code <= FIRST
        good = are_heads(self.buffer, run)
        bad = heads & ~good
        if not bad.any():
            return run
        behind = np.append(run.place[1:], run.end)
        blocks = holds_records(self.buffer, run.at, run.length)
        hides = (
            each
            for each in np.flatnonzero(bad).tolist()
            if blocks[each] or self._hides(int(run.place[each]), int(behind[each]), run.end)
        )
        whole = np.flatnonzero(good[: min(next(hides, len(good)), _last_record(run.code)[0] + 1)])
        last = int(whole[-1]) if whole.size else -1
        behind = np.flatnonzero(bad[last + 1 :])
        if behind.size:
            index = last + 1 + int(behind[0])
            run = replace(run.where(slice(index)), end=int(run.place[index]), broken=True)
            heads, bad = heads[:index], bad[:index]
        starts = np.append(np.flatnonzero(heads), len(heads))
        sizes = run.extent(starts[:-1], starts[1:])
        for index, size in zip(starts.tolist(), sizes.tolist(), strict=False):
            if bad[index]:
                self._note(int(run.place[index]), size, NO_TIME)
        owner = np.maximum.accumulate(np.where(heads, np.arange(len(heads)), 0))
        return run.where(~bad[owner])

    def _picked(self, end: int, last: bool) -> Segments:
        """Return the records in buffer[low:end] that are found by what they look like."""
        run = self.walk.segments(self.buffer, self.low, end, last)
        good = are_heads(self.buffer, run)
        places, sizes = run.place[~good].tolist(), (run.length[~good] - RDW_SIZE).tolist()
        gaps = [*run.gaps, *zip(places, sizes, strict=True)]
        if last and run.end < end:
            gaps.append((run.end, end - run.end))
        for place, size in sorted(gaps):
            if not self.quiet or place > self.low:
                self._note(place, size, self._why(place, place + size))
        self.quiet = self.quiet and not good.any()
        return replace(run.where(good), end=end if last else run.end)

    def _confirmed(self, run: Segments, end: int) -> Segments:
        """Return the segments without the last record, if nothing sound is seen to follow it.

        Its length may be wrong; with more data in the buffer that can be told.
        """
        head, count = _last_record(run.code)
        if count < len(run.code) or not count or run.place[head] == self.low:
            return run
        if self.walk.begins(self.buffer, run.end, end):
            return run
        return replace(run.where(slice(head)), end=int(run.place[head]))

    def _hides(self, place: int, behind: int, end: int) -> bool:
        """Whether in what seems to be a segment, but starts no record, there are records."""
        return self.walk.hides_block(self.buffer, place) or hides_record(
            self.walk, self.buffer, place, behind, end
        )

    def _stray(
        self, run: Segments, at: int, end: int, last: bool, wrong: int | None
    ) -> tuple[Segments, int]:
        """Look for where to go on when there is no segment at the end of a run that began at `at`.

        wrong  where the walk says that none is; None: nowhere

        Return the segments that are sure, and where to go on. The length of the last record may be
        what is wrong: the record goes if another begins in it, or if what is in it says that it is
        longer.
        """
        head, count = _last_record(run.code)
        behind = run.end if count == len(run.code) else int(run.place[count])
        begin = int(run.place[head]) if count else at
        place, sure = self._next(begin + 1, end, last)
        if place == wrong and sure:
            place, sure = self._next(place + 1, end, last)
        dropped = (sure and place < behind) or _is_cut(self.buffer, run, head, count)
        place = place if sure else max(place, behind)
        start = begin if dropped else behind
        self.lost = self._offset(start)
        self.zeros, self.cut = True, start == run.end and not run.broken
        self.headed = self.walk.begins(self.buffer, start, end)
        self._pass_over(start, place, sure, last)
        gaps = [*(gap for gap in run.gaps if gap[0] < start), (start, max(place - start, 0))]
        return replace(run.where(slice(head if dropped else count)), gaps=gaps), place

    def _next(self, low: int, end: int, last: bool) -> tuple[int, bool]:
        """Return where, from `low` on, a record starts, or where to look for it further on."""
        place, sure = next_record(self.walk, self.buffer, low, end, last)
        if place is None:
            return (end if last else max(low, end - _TAIL)), False
        return place, sure or (place == self.low and end - place >= self.capacity)

    def _pass_over(self, start: int, place: int, sure: bool, last: bool) -> None:
        """Pass over buffer[start:place]; note it once where it ends: a record is sure to start."""
        self.zeros = self.zeros and not self.buffer[start:place].any()
        if not sure and not last:
            return
        assert self.lost is not None
        size = self._offset(place) - self.lost
        if not self.quiet and size:
            why = self._why(start, place)
            if self.zeros:
                why = _ZEROS
            elif self.headed and sure:
                why = _WRONG_LENGTH
            elif self.cut and not sure and why != _LINE_END:
                why = f"the file is cut: {size} bytes of its last record are left"
            self.found.append(Damage(self.source, self.lost, size, why))
        self.quiet = False
        if sure:
            self.lost = None

    def _has(self, place: int) -> bool:
        """Whether what starts at `place` in the buffer is of the range that is read."""
        return not self.blind or self.part_end is None or self._offset(place) < self.part_end

    def _offset(self, place: int) -> int:
        """Return the byte of the source that is at `place` in the buffer."""
        return self.base + place - self.low

    def _why(self, start: int, end: int) -> str:
        """Return what is to be said of bytes in the buffer that are in no record."""
        data = self.buffer[start:end]
        if not data.any():
            return _ZEROS
        if end - start == line_end(self.buffer, start, end):
            return _LINE_END
        return NO_RECORD

    def _note_gaps(self, gaps: list[tuple[int, int]]) -> None:
        """Note bytes between segments; line ends of a kind that follow each other once."""
        for size, found in itertools.groupby(gaps, key=lambda gap: gap[1]):
            places = [place for place, _ in found]
            if size == RDW_SIZE:
                for place in places:
                    self._note(place, size, _NO_BLOCK)
            elif len(places) == 1:
                self._note(places[0], size, _LINE_END)
            else:
                self._note(places[0], size * len(places), f"{len(places)} {_LINE_ENDS}")

    def _note(self, place: int, size: int, reason: str) -> None:
        self.found.append(Damage(self.source, self._offset(place), size, reason))

    def _records(self, found: Segments, last: bool) -> tuple[Ints, Ints, Ints, int]:
        """Return start, length and place of the records, and up to where the bytes are used.

        A spanned record is made contiguous. One that goes on behind the buffer is left there.
        """
        if not found.code.any():
            return found.at, found.length, found.place, found.end
        begins = found.code <= FIRST
        goes_on = (found.code == FIRST) | (found.code == MIDDLE)
        first = np.flatnonzero(begins | ~np.append(False, goes_on[:-1]))
        final = np.append(first[1:], len(begins)) - 1
        length = np.add.reduceat(found.length - RDW_SIZE, first) + RDW_SIZE
        size = found.extent(first, final + 1)
        good = begins[first] & ~goes_on[final] & (size <= MAX_RECORD)
        end = found.end
        pending = begins[first[-1]] and goes_on[final[-1]]
        if pending and size[-1] <= MAX_RECORD and not last:
            end = int(found.place[first[-1]])
            first, final, length, good = first[:-1], final[:-1], length[:-1], good[:-1]
        for index in np.flatnonzero(~good).tolist():
            why = "spanned record lost: its last segment is missing"
            if not begins[first[index]]:
                why = "spanned record lost: a later segment without its first one"
            elif size[index] > MAX_RECORD:
                why = f"spanned record lost: longer than {MAX_RECORD} bytes"
            elif final[index] + 1 == len(begins) and last:
                why = "the file is cut: the last segment of a spanned record is missing"
            self._note(int(found.place[first[index]]), int(size[index]), why)
        first, final = first[good], final[good]
        start = self._joined(found, first, final)
        return start, length[good], found.place[first], end

    def _joined(self, found: Segments, first: Ints, final: Ints) -> Ints:
        """Make the records of the segments `first` to `final` contiguous; return where they start.

        Of two pieces the shorter one is moved; of more, all up against the last.
        """
        start = found.at[first]
        several = final > first
        if self.kinds is not None:
            whole_header = found.length[first] >= SUBTYPE_END
            several &= np.isin(kinds_of(self.buffer, start), self.kinds) | ~whole_header
        pairs = np.flatnonzero(several & (final == first + 1))
        head, tail = found.length[first[pairs]], found.length[final[pairs]] - RDW_SIZE
        behind, data = start[pairs] + head, found.at[final[pairs]] + RDW_SIZE
        self._move(data, behind, np.where(head > tail, tail, 0))
        self._move(start[pairs], data - head, np.where(head > tail, 0, head))
        start[pairs] = np.where(head > tail, start[pairs], data - head)
        for index in np.flatnonzero(several & (final > first + 1)):
            pieces = slice(first[index], final[index] + 1)
            start[index] = self._pushed(found.at[pieces].tolist(), found.length[pieces].tolist())
        return start

    def _move(self, source: Ints, target: Ints, size: Ints) -> None:
        view, some = self.view, size > 0
        moves = source[some], target[some], size[some]
        for old, new, length in zip(*(each.tolist() for each in moves), strict=True):
            view[new : new + length] = view[old : old + length]

    def _pushed(self, places: list[int], lengths: list[int]) -> int:
        """Push pieces up against the last one, without their RDWs but the first; return where."""
        at = places[-1] + RDW_SIZE
        for number in range(len(places) - 2, -1, -1):
            skip = RDW_SIZE if number else 0
            size = lengths[number] - skip
            piece = places[number] + skip
            self.view[at - size : at] = self.view[piece : piece + size]
            at -= size
        return at

    def _chunk(self, start: Ints, length: Ints, place: Ints) -> Chunk:
        offset = self._offset(0) + place
        good: Bools = (length >= SMF_HEADER) & plausible(self.buffer, start)
        for index in np.flatnonzero(~good).tolist():
            self._note(int(place[index]), int(length[index]), NO_TIME)
        if self.blind and self.part_end is not None:
            good &= offset < self.part_end
            self.found = [each for each in self.found if each.offset < self.part_end]
        if not good.all():
            start, length, offset = start[good], length[good], offset[good]
        for each in sorted(self.found, key=lambda damage: damage.offset):
            self.damage.add(each)
        self.found.clear()
        numbers = np.arange(self.count + 1, self.count + 1 + start.size)
        self.count += start.size
        return Chunk(
            self.source, self.buffer, start, length, offset, numbers, self.base, not self.blind
        )


def _last_record(code: NDArray[np.uint8]) -> tuple[int, int]:
    """Return the index of the first segment of the last record that is complete, and behind it."""
    ends = np.flatnonzero((code == WHOLE) | (code == LAST))
    if not ends.size:
        return 0, 0
    count = int(ends[-1]) + 1
    heads = np.flatnonzero(code[:count] <= FIRST)
    return (int(heads[-1]) if heads.size else 0), count


def _is_cut(buffer: Bytes, run: Segments, head: int, count: int) -> bool:
    """Whether a record in one piece is shorter than what is in it says."""
    if count - head != 1:
        return False
    return bool(told_length(buffer, run.at[head:count])[0] > run.length[head])


def _together(runs: list[Segments], end: int) -> Segments:
    """Return the segments of several runs as one, which ends at `end`."""
    if len(runs) == 1:
        return replace(runs[0], end=end)
    return Segments(
        np.concatenate([_NOTHING, *(each.at for each in runs)]),
        np.concatenate([_NOTHING, *(each.length for each in runs)]),
        np.concatenate([_NOTHING.astype(np.uint8), *(each.code for each in runs)]),
        np.concatenate([_NOTHING, *(each.place for each in runs)]),
        end,
        gaps=[gap for each in runs for gap in each.gaps],
    )


def are_short(kinds: Ints | None) -> bool:
    """Whether records of these kinds (None: all) are in one piece, mostly, and few."""
    return kinds is not None and not np.isin(kinds, _LONG).any()
