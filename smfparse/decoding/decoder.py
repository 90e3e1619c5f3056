"""Layouts, bytes and positions to Arrow record batches.

The seam of the engine: a chunk of records goes in, (table name, RecordBatch) pairs come out, each
table's rows in record order. Only the tables and columns that are wanted are decoded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from smfparse.decoding.clocks import Clocks
from smfparse.decoding.keys import KeyColumns
from smfparse.decoding.matching import Matches, NameFilter
from smfparse.decoding.needs import Needs
from smfparse.decoding.records import Blocks, Records
from smfparse.decoding.surroundings import Ahead, Before
from smfparse.decoding.table_buffers import OF_ROWS, KeyBuffer, TableBuffer
from smfparse.decoding.tasks import TaskLinks
from smfparse.decoding.texts import text_columns
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

    again    reads the source from where the chunks start, to look ahead in it
    before   knows what is before that
    unknown  takes how many bytes no column knows, where that is needed
    tasks    as in `NameFilter`
    prompt   whether every table gives a batch behind each chunk
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
        prompt: bool = False,
    ) -> None:
        self.needs = needs
        self.damage = damage
        self.unknown: Counter[str] = Counter() if unknown is None else unknown
        self._limits = limits
        self._prompt = prompt
        ahead, reach = None if again is None else Ahead(again), limits.look_back_bytes
        self._clocks = Clocks(before, ahead, reach)
        self._links = TaskLinks(before, reach)
        self._texts = text_columns()
        by_name = needs.selection.by_name
        self._names = NameFilter(by_name, tasks) if by_name else None
        self._tables = {
            name: TableBuffer(name, names, self._texts) for name, names in needs.wanted.items()
        }
        names = {each.name for table in self._tables.values() for each in table.keys}
        self._keys = KeyBuffer(names - OF_ROWS)

    def decode(self, chunks: Iterable[Chunk]) -> Iterator[tuple[str, Batch]]:
        """Decode the wanted tables; each table's rows come in record order, in few batches."""
        size, source = 0, None
        for chunk in chunks:
            source = source or pa.array([chunk.source])
            self._add(chunk)
            self.damage.check()
            size += int(chunk.length.sum())
            if self._prompt or size >= self._limits.epoch_bytes or self._full():
                yield from self._flush(source, 0 if self._prompt else self._limits.epoch_cells >> 9)
                size = 0
        self.damage.check()
        if source is not None:
            yield from self._flush(source, 0)

    def _full(self) -> bool:
        """Whether many small records or blocks have made more cells than their bytes show."""
        cells = [table.cells for table in self._tables.values()]
        return (
            max(cells, default=0) + self._keys.rows * len(self._keys.names)
            >= self._limits.epoch_cells
        )

    def _flush(self, source: Any, least: int) -> Iterator[tuple[str, Batch]]:
        """Yield the tables that have so many cells; of the others only the keys are noted."""
        for name, table in self._tables.items():
            table.note(self._keys)
            if table.rows and table.cells >= least:
                yield name, table.batch(source)
        self._keys.clear()

    def _add(self, chunk: Chunk) -> None:
        """Gather what is wanted of a chunk."""
        chunk, keep = self._selected(_relevant(chunk, self.needs.kinds))
        damage = SelectedDamage(self.damage)
        log = self.damage if self.needs.selection.everything else damage
        records = Records(chunk, log, self.needs.index)
        if not len(records):
            return
        keys = KeyColumns(records, self._clocks, self._links, self._texts)
        if self.needs.counted:
            keep = both(keep, counted_mask(self.needs.selection, *keys.counted_at))
        self._add_rows(records, keys, keep)
        keys.carry(clocks=self.needs.clocks, tasks=self.needs.tasks)
        self._keys.add(keys)
        damage.pass_on(chunk.offset if keep is None else chunk.offset[keep])

    def _add_rows(self, records: Records, keys: KeyColumns, keep: Bools | None) -> None:
        """Gather what is wanted of the records `keep` (None: all)."""
        matches = Matches(self._names, records, keys) if self._names else None
        if RECORD in self._tables or self.needs.unknown:
            some = keep if matches is None else both(keep, matches.records)
            self._count_unknown(records, some)
            self._add_records(records, keys, some)
        for block, tables in self.needs.blocks.values():
            found = records.blocks(block)
            found = found if keep is None else found.where(keep[found.owner])
            found = found if matches is None else found.where(matches.of(tables[0], found))
            if len(found):
                for name in tables:
                    self._add_blocks(self._tables[name], found, records, keys)

    def _selected(self, chunk: Chunk) -> tuple[Chunk, Bools | None]:
        """Return a chunk, and which of its records may be selected; None: all.

        Where no record has to know of another, the others are left out.
        """
        keep = record_mask(self.needs.selection, chunk.buffer, chunk.start, chunk.length)
        if self.needs.clocks or self.needs.tasks:
            return chunk, keep
        return (chunk if keep is None else chunk.where(keep)), None

    def _count_unknown(self, records: Records, keep: Bools | None) -> None:
        if not self.needs.unknown:
            return
        chunk = records.chunk
        counted = records if keep is None else Records(chunk.where(keep), self.damage)
        self.unknown.update(unknown_bytes(counted))

    def _add_records(self, records: Records, keys: KeyColumns, keep: Bools | None) -> None:
        table = self._tables.get(RECORD)
        if table is None:
            return
        every = np.arange(len(records)) if keep is None else np.flatnonzero(keep)
        for buffer in table.blocks:
            buffer.add(records.chunk.buffer, *keys.areas.placed(buffer.block, every))
        table.add(Blocks(every, every, every, every), self._keys.rows)

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
        table.add(found, self._keys.rows)


def _relevant(chunk: Chunk, kinds: Ints | None) -> Chunk:
    """Leave out of a chunk the records that do not matter."""
    if kinds is None:
        return chunk
    found = kinds_of(chunk.buffer, chunk.start)
    return chunk.where(np.flatnonzero(np.isin(found, kinds)))
