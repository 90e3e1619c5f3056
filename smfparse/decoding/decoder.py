"""The interface of this package: from chunks of records to (table name, RecordBatch) pairs.

The rows of each table are in the order of records. Only the wanted tables and columns are decoded.
Rows are gathered over many chunks, of one source or several, until they fill a batch. If a part of
a source is decoded, facts about the records before and after it are read on first use.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

import numpy as np

from smfparse.decoding.arrow import Batch
from smfparse.decoding.clocks import (
    Clock,
    Clocks,
    Shown,
    Spacing,
    is_spaced,
    made_at,
    shown_by,
    written_without_interval,
)
from smfparse.decoding.dictionary import RECORD
from smfparse.decoding.keys import KeyColumns, text_columns
from smfparse.decoding.matching import Matches, NameFilter, Needs
from smfparse.decoding.records import KNOWN_RECORDS, BlockIndex, Blocks, HeaderAreas, Records
from smfparse.decoding.selected_rows import SelectedDamage, counted_mask, record_mask
from smfparse.decoding.table_buffers import KeyBuffer, TableBuffer
from smfparse.decoding.tasks import (
    NO_TASKS,
    TASK_KINDS,
    Elsewhere,
    TaskLinks,
    Tasks,
    joined_tasks,
    tasks_of,
)
from smfparse.errors import DamageLog
from smfparse.limits import LIMITS, Limits
from smfparse.reading.chunks import Chunk
from smfparse.reading.headers import MOST_TRIPLETS, kinds_of
from smfparse.schemas import REGISTRY, WTAS
from smfparse.vectors import Bools, Ints, both, strings


class Before:
    """The records before a part, as far back as records of the part depend on them.

    start  byte of the source where the part starts
    read   function that reads these records; its argument contains the kinds (as in `kinds_of`;
           None: all) that are read beyond their header
    """

    def __init__(self, start: int, read: Callable[[Ints | None], Iterator[Chunk]]) -> None:
        self._start = start
        self._read = read

    def is_near(self, place: Ints, reach: int) -> bool:
        """Whether any record at `place` is less than `reach` bytes after the start of the part."""
        return bool((place - self._start < reach).any())

    @cached_property
    def tasks(self) -> Tasks:
        """The 116/1 records."""
        return joined_tasks([NO_TASKS, *map(tasks_in, self._read(TASK_KINDS))])

    @cached_property
    def clocks(self) -> dict[bytes, Clock]:
        """The last record of each system with a known UTC offset."""
        found: dict[bytes, Clock] = {}
        for chunk in self._read(None):
            shown = shown_by(Records(chunk, DamageLog()))
            every, last = np.unique(shown.system[::-1], return_index=True)
            last = len(shown.system) - 1 - last
            clocks = map(Clock, shown.place[last].tolist(), shown.seconds[last].tolist())
            found |= zip((each.tobytes() for each in every), clocks, strict=True)
        return found

    @cached_property
    def written(self) -> dict[bytes, tuple[int, int]]:
        """Place and time of the last record of statistics without an interval, by its key."""
        found: dict[bytes, tuple[int, int]] = {}
        for chunk in self._read(None):
            records = Records(chunk, DamageLog())
            written = written_without_interval(records, made_at(HeaderAreas(records)))
            for key, *last in zip(written.key, written.place, written.time, strict=True):
                found[key.tobytes()] = int(last[0]), int(last[1])
        return found


def tasks_in(chunk: Chunk) -> Tasks:
    """Return the 116/1 records of a chunk."""
    of_tasks = np.isin(kinds_of(chunk.buffer, chunk.start), TASK_KINDS)
    records = Records(chunk.where(of_tasks), DamageLog(), BlockIndex([WTAS]))
    return tasks_of(records, made_at(HeaderAreas(records)).ahead)[1]


class Ahead:
    """UTC offsets in later records of a source; each record is read once.

    read  function that reads the source from the start of the part, or from an earlier byte
    """

    def __init__(self, read: Callable[[], Iterator[Chunk]]) -> None:
        self._read = read
        self._held: list[Shown] = []
        self._end = -1
        """Byte of the source where the last read record starts."""

    @cached_property
    def _chunks(self) -> Iterator[Chunk]:
        return self._read()

    def first(self, system: bytes, behind: int, until: int) -> Clock | None:
        """Return the first record of a system that starts after a byte and has a known offset.

        behind  the byte; it must not decrease from call to call
        until   byte up to which such a record is certainly found
        """
        self._held = [each for each in self._held if each.place[-1] > behind]
        number = np.frombuffer(system, np.uint32)
        for each in self._more(behind, until):
            found = np.flatnonzero((each.system == number) & (each.place > behind))
            if found.size:
                return Clock(int(each.place[found[0]]), int(each.seconds[found[0]]))
        return None

    def _more(self, behind: int, until: int) -> Iterator[Shown]:
        """Yield the stored records, then read and yield records up to byte `until`."""
        yield from self._held
        while self._end < until:
            chunk = next(self._chunks, None)
            if chunk is None:
                return
            self._end = int(chunk.offset[-1])
            if self._end > behind:
                shown = shown_by(Records(chunk, DamageLog()))
                if len(shown.place):
                    self._held.append(shown)
                    yield shown


def unknown_bytes(records: Records) -> Counter[str]:
    """Return the number of bytes in MQ records that no column contains, by block or section.

    These are the ends of blocks longer than the declared map, blocks of a length without a declared
    map, and IBM-internal sections.
    """
    found = records.sections()
    known, whole = _KNOWN[records.kind[found.row], found.number].T
    tail = np.maximum(found.length - known, 0)
    size = np.where(whole & (found.length != known), found.length, tail) * found.fits
    place = records.kind[found.row] * MOST_TRIPLETS + found.number
    sums = np.bincount(place, size, len(_KNOWN) * MOST_TRIPLETS)
    names: Counter[str] = Counter()
    for index in np.flatnonzero(sums):
        names[_section(*divmod(int(index), MOST_TRIPLETS))] += int(sums[index])
    return names


def _section(kind: int, number: int) -> str:
    record = KNOWN_RECORDS[kind]
    block = REGISTRY[record].get(number)
    return f"{record[0]}/{record[1]} triplet {number}" if block is None else block.name


def _known() -> Ints:
    """Return the known length of each block, and 1 if its map is valid only for this length.

    The shape is int64 (kinds of record, triplets, 2); both values are 0 for an unknown block.
    """
    found = np.zeros((len(KNOWN_RECORDS), MOST_TRIPLETS, 2), np.int64)
    for kind, record in enumerate(KNOWN_RECORDS):
        for number, block in REGISTRY[record].items():
            whole = block.only_whole or block.kept_length is not None
            found[kind, number] = block.kept_length or block.size, whole
    return found


_KNOWN = _known()


_MOST_SOURCES = 4096
"""Maximum number of sources in a batch: every batch contains the names of all its sources."""


class Gathered:
    """Decoded rows that are not yet in a batch.

    Setting up columns and arrays takes longer than decoding a small file. So the decoders of
    consecutive sources can share one Gathered.

    prompt     whether batches of all tables are yielded after each chunk
    elsewhere  the tasks at the ends of other sources; None: no other sources
    """

    def __init__(self, needs: Needs, limits: Limits = LIMITS, *, prompt: bool = False) -> None:
        self.needs = needs
        self.texts = text_columns()
        self.tables = {
            name: TableBuffer(name, names, self.texts) for name, names in needs.wanted.items()
        }
        self.keys = KeyBuffer(set().union(*(each.asked for each in self.tables.values())))
        self.elsewhere: Elsewhere | None = None
        self._limits = limits
        self._prompt = prompt
        self._size = 0
        self._sources: dict[str, int] = {}
        self._now = np.zeros(1, np.int32)
        """Numbers of the sources to which the next rows belong."""

    def begin(self, sources: Iterable[str]) -> None:
        """Set the sources of the rows that are added next."""
        numbers = [self._sources.setdefault(each, len(self._sources)) for each in sources]
        self._now = np.array(numbers, np.int32)

    def add(self, keys: KeyColumns) -> None:
        """Add the keys of a chunk's records, after the rows of the chunk."""
        self.keys.add(keys, self._now)

    def grown(self, size: int) -> Iterator[tuple[str, Batch]]:
        """Yield the batches that are due after another `size` bytes of records."""
        self._size += size
        if self._prompt or len(self._sources) > _MOST_SOURCES:
            yield from self.flush()
        elif self._size >= self._limits.epoch_bytes or self._full():
            yield from self._flush(self._limits.epoch_cells >> 9)

    def flush(self) -> Iterator[tuple[str, Batch]]:
        """Yield all gathered batches."""
        yield from self._flush(0)
        names = list(self._sources)
        self._sources = {}
        self.begin([names[number] for number in self._now] if names else [])

    def _full(self) -> bool:
        """Whether the number of gathered cells exceeds its limit, so that batches are due early."""
        cells = [table.cells for table in self.tables.values()]
        return (
            max(cells, default=0) + self.keys.rows * len(self.keys.names)
            >= self._limits.epoch_cells
        )

    def _flush(self, least: int) -> Iterator[tuple[str, Batch]]:
        """Yield batches of tables with at least `least` cells; for other tables, store the keys."""
        sources = strings(self._sources)
        for name, table in self.tables.items():
            table.note(self.keys)
            if table.rows and table.cells >= least:
                yield name, table.batch(sources, self.elsewhere)
        self.keys.clear()
        self._size = 0


class Decoder:
    """Decodes the chunks of one source, and passes facts from one chunk to another.

    Rows, damage and counts of unknown bytes come from selected records only. Facts that other
    records require come from all records. If names are selected, names are decoded first, and
    blocks with other names are not decoded further.

    again      reads the source again from the start of the chunks, to look ahead
    before     finds facts in the bytes before the start of the chunks
    unknown    counter of the bytes that no column contains, filled if requested
    tasks      as in `NameFilter`
    gathered   buffer of decoded rows, shared with other sources and flushed by its creator; None:
               the decoder uses its own buffer
    elsewhere  the tasks at the ends of other sources; None: no other sources
    """

    def __init__(
        self,
        needs: Needs,
        damage: DamageLog,
        again: Callable[[], Iterator[Chunk]] | None = None,
        before: Before | None = None,
        unknown: Counter[str] | None = None,
        tasks: Callable[[], Ints] | None = None,
        *,
        limits: Limits = LIMITS,
        gathered: Gathered | None = None,
        elsewhere: Elsewhere | None = None,
    ) -> None:
        self.needs = needs
        self.damage = damage
        self.unknown: Counter[str] = Counter() if unknown is None else unknown
        ahead, reach = None if again is None else Ahead(again), limits.look_back_bytes
        self._clocks = Clocks(before, ahead, reach)
        self._links = TaskLinks(before, reach, elsewhere)
        self._spacing = Spacing(before, reach)
        by_name = needs.selection.by_name
        self._names = NameFilter(by_name, tasks) if by_name else None
        self._is_alone = gathered is None
        self._gathered = Gathered(needs, limits) if gathered is None else gathered
        self._gathered.elsewhere = elsewhere

    @property
    def last_tasks(self) -> Tasks | None:
        """The tasks at the end of the decoded records; None: tasks are not requested."""
        return self._links.last if self.needs.tasks else None

    def decode(self, chunks: Iterable[Chunk]) -> Iterator[tuple[str, Batch]]:
        """Yield (table name, RecordBatch); the rows of each table are in record order."""
        gathered, begun = self._gathered, False
        for chunk in chunks:
            if not begun:
                begun = True
                gathered.begin(chunk.sources or [chunk.source])
            self._add(chunk)
            self.damage.check()
            yield from gathered.grown(int(chunk.length.sum()))
        self.damage.check()
        if self._is_alone and begun:
            yield from gathered.flush()

    def _add(self, chunk: Chunk) -> None:
        chunk, keep = self._selected(_relevant(chunk, self.needs.kinds))
        damage = SelectedDamage(self.damage)
        log = self.damage if self.needs.selection.everything else damage
        records = Records(chunk, log, self.needs.index)
        if not len(records):
            return
        keys = KeyColumns(records, self._clocks, self._links, self._spacing, self._gathered.texts)
        if self.needs.counted:
            keep = both(keep, counted_mask(self.needs.selection, keys.known))
        self._add_rows(records, keys, keep)
        keys.carry(clocks=self.needs.clocks, tasks=self.needs.tasks)
        self._gathered.add(keys)
        damage.pass_on(chunk.offset if keep is None else chunk.offset[keep])

    def _add_rows(self, records: Records, keys: KeyColumns, keep: Bools | None) -> None:
        matches = Matches(self._names, records, keys) if self._names else None
        if RECORD in self._gathered.tables or self.needs.unknown:
            some = keep if matches is None else both(keep, matches.records)
            self._count_unknown(records, some)
            self._add_records(records, keys, some)
        for block, tables in self.needs.blocks.values():
            found = records.blocks(block)
            found = found if keep is None else found.where(keep[found.owner])
            found = found if matches is None else found.where(matches.of(tables[0], found))
            if len(found):
                for name in tables:
                    self._add_blocks(self._gathered.tables[name], found, records, keys)

    def _selected(self, chunk: Chunk) -> tuple[Chunk, Bools | None]:
        """Return a chunk, and which of its records may be selected (None: all).

        If no record depends on another record, records that are not selected are removed.
        """
        keep = record_mask(self.needs.selection, chunk.buffer, chunk.start, chunk.length)
        if self.needs.clocks or self.needs.tasks or (keep is not None and is_spaced(chunk)):
            return chunk, keep
        return (chunk if keep is None else chunk.where(keep)), None

    def _count_unknown(self, records: Records, keep: Bools | None) -> None:
        if not self.needs.unknown:
            return
        chunk = records.chunk
        counted = records if keep is None else Records(chunk.where(keep), self.damage)
        self.unknown.update(unknown_bytes(counted))

    def _add_records(self, records: Records, keys: KeyColumns, keep: Bools | None) -> None:
        table = self._gathered.tables.get(RECORD)
        if table is None:
            return
        every = np.arange(len(records)) if keep is None else np.flatnonzero(keep)
        for buffer in table.blocks:
            buffer.add(records.chunk.buffer, *keys.areas.placed(buffer.block, every))
        table.add(Blocks(every, every, every, every), self._gathered.keys.rows)

    def _add_blocks(
        self, table: TableBuffer, found: Blocks, records: Records, keys: KeyColumns
    ) -> None:
        if table.entries:
            which = table.entries.add(records.chunk.buffer, found.at, found.length)
            found = found.where(which)
        else:
            main, *extra = table.blocks
            main.add(records.chunk.buffer, found.at, found.length)
            for buffer in extra:
                buffer.add(records.chunk.buffer, *keys.areas.placed(buffer.block, found.owner))
        table.add(found, self._gathered.keys.rows)


def _relevant(chunk: Chunk, kinds: Ints | None) -> Chunk:
    """Return a chunk without records that cannot affect the result."""
    if kinds is None:
        return chunk
    found = kinds_of(chunk.buffer, chunk.start)
    return chunk.where(np.flatnonzero(np.isin(found, kinds)))
