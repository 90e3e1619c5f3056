"""Layouts, bytes and positions to Arrow record batches.

The seam of the engine: a chunk of records goes in, (table name, RecordBatch) pairs come out, each
table's rows in record order. Only the tables and columns that are wanted are decoded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from smfparse.decoding.clocks import Clocks
from smfparse.decoding.gathered import Gathered
from smfparse.decoding.keys import KeyColumns
from smfparse.decoding.matching import Matches, NameFilter
from smfparse.decoding.needs import Needs
from smfparse.decoding.records import Blocks, Records
from smfparse.decoding.spacing import Spacing, is_spaced
from smfparse.decoding.surroundings import Ahead, Before
from smfparse.decoding.table_buffers import TableBuffer
from smfparse.decoding.tasks import Elsewhere, TaskLinks, Tasks
from smfparse.decoding.unknown import unknown_bytes
from smfparse.errors import DamageLog
from smfparse.limits import LIMITS, Limits
from smfparse.reading import Chunk, kinds_of
from smfparse.selecting import SelectedDamage, counted_mask, record_mask
from smfparse.tables import RECORD, Batch
from smfparse.vectors import Bools, Ints, both


class Decoder:
    """Decodes the chunks of one source; carries what one chunk has to know of another.

    Only the records of the selection give rows, damage and counts of unknown bytes; what they have
    to know of others is the same without it. Where names are asked for, these are decoded first,
    and of blocks that are not about them nothing else.

    again     reads the source from where the chunks start, to look ahead in it
    before    knows what is before that
    unknown   takes how many bytes no column knows, where that is needed
    tasks     as in `NameFilter`
    gathered  takes what is decoded, beside that of other sources, and is flushed by who made it;
              None: all of this source becomes batches here
    elsewhere knows the tasks at the ends of other sources; None: there are no others
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
        """The tasks at the end of what was decoded; None: nobody asked for tasks."""
        return self._links.last if self.needs.tasks else None

    def decode(self, chunks: Iterable[Chunk]) -> Iterator[tuple[str, Batch]]:
        """Decode the wanted tables; each table's rows come in record order, in few batches."""
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
        """Gather what is wanted of a chunk."""
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
        """Gather what is wanted of the records `keep` (None: all)."""
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
        """Return a chunk, and which of its records may be selected; None: all.

        Where no record has to know of another, the others are left out.
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
    """Leave out of a chunk the records that do not matter."""
    if kinds is None:
        return chunk
    found = kinds_of(chunk.buffer, chunk.start)
    return chunk.where(np.flatnonzero(np.isin(found, kinds)))
