"""Layouts, bytes and positions to Arrow record batches.

The seam of the engine: a chunk of records goes in, (table name, RecordBatch) pairs come out, each
table's rows in record order. Only the tables and columns that are wanted are decoded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
import pyarrow as pa

from smfparse.decoding.arrays import array, coded
from smfparse.decoding.gathering import BlockBuffer, EntryBuffer, Growing
from smfparse.decoding.keys import Clocks, KeyColumns, Words, words
from smfparse.decoding.matching import Matches, Names, blocks_for
from smfparse.decoding.records import KINDS, Blocks, Places, Records
from smfparse.decoding.tasks import TaskLinks
from smfparse.errors import DamageLog
from smfparse.layout import Mask, Values
from smfparse.reading.headers import MOST_TRIPLETS, kinds_of
from smfparse.reading.reader import Chunk
from smfparse.schemas import REGISTRY, TASK_RECORDS, WQST, WTAS
from smfparse.selecting import ALL_RECORDS, SelectedDamage, Selection, record_mask
from smfparse.tables import (
    DAMAGE,
    KEY_COLUMNS,
    RECORD,
    RECORD_BLOCKS,
    RECORD_FIELDS,
    TABLES,
    TASK_KEY,
    Batch,
    TableColumn,
    Wanted,
    coded_schema,
    columns,
    key_columns,
)
from smfparse.vectors import Bools, Ints, both, same

EPOCH_BYTES = 32 << 20
"""Bytes of input after which all tables give a batch."""
EPOCH_CELLS = 1 << 22
"""Values of one table, or of key columns, after which they do as well."""
_OF_ROWS = frozenset({"source", "block_no"})
"""Key columns that are not those of a row's record."""
_NUMPY = {"int32": "i4", "uint8": "u1", "double": "f8", "string": "i4"}
"""numpy types of key columns, texts as codes; the others are 8-byte integers."""
_NATIVE = {
    each.name: _NUMPY.get(each.arrow, "i8") for each in (*KEY_COLUMNS, TASK_KEY, *RECORD_FIELDS)
}


class _Keys:
    """Key columns of the records of many chunks: what the rows of all tables refer to."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(names)
        self.clear()

    def clear(self) -> None:
        """Start anew."""
        self.rows = 0
        self._parts: dict[str, list[tuple[Values, Mask]]] = {name: [] for name in self.names}
        self._whole: dict[str, tuple[Values, Mask]] = {}

    def add(self, keys: KeyColumns) -> None:
        """Take the records of a chunk."""
        for name, parts in self._parts.items():
            parts.append(keys.column(name))
        self.rows += keys.rows

    def of(self, name: str, rows: Ints) -> tuple[Values, Mask]:
        """Return a key column of the records `rows`: values, texts as codes, and where they are."""
        if name not in self._whole:
            values, held = _joined(self._parts[name])
            self._whole[name] = values.astype(_NATIVE[name]), held
        values, held = self._whole[name]
        return values[rows], None if held is None else held[rows]


def _joined(parts: Sequence[tuple[Values, Mask]]) -> tuple[Values, Mask]:
    """Put values of many chunks, and where they are present, together."""
    if len(parts) == 1:
        return parts[0]
    values = np.concatenate([each for each, _ in parts])
    if all(mask is None for _, mask in parts):
        return values, None
    held = np.concatenate(
        [np.ones(len(each), np.bool_) if mask is None else mask for each, mask in parts]
    )
    return values, None if held.all() else held


class _TableBuffer:
    """The wanted columns of one table, over many chunks."""

    def __init__(
        self, table: str, wanted: frozenset[str] | None, known: Mapping[str, Words]
    ) -> None:
        self.table = table
        self.wanted = wanted
        self.columns = [each for each in columns(table) if wanted is None or each.name in wanted]
        names = {each.name for each in self.columns}
        keyed = (*key_columns(table), *(RECORD_FIELDS if table == RECORD else ()))
        self.keys = [each for each in keyed if each.name in names]
        spec = TABLES.get(table)
        own = [(block, block.columns) for block in RECORD_BLOCKS]
        if spec:
            own = [(spec.block, spec.columns)]
            if spec.extra:
                own.append((spec.extra, spec.extra.columns))
        picked = [(block, [each for each in found if each.name in names]) for block, found in own]
        self.entries: EntryBuffer | None = None
        self.blocks: list[BlockBuffer] = []
        if spec and spec.child:
            block, found = picked[0]
            self.entries = EntryBuffer(block, spec.child, found)
        else:
            self.blocks = [BlockBuffer(block, found) for block, found in picked]
        self._known = known
        self.owner = Growing("i8")
        self.number = Growing("i4")
        self._noted: dict[str, list[tuple[Values, Mask]]] = {
            each.name: [] for each in self.keys if each.name not in _OF_ROWS
        }
        self.rows = 0

    def add(self, found: Blocks, first: int) -> None:
        """Note the rows of a chunk whose records start at `first` among the keys."""
        rows = len(found)
        self.owner.more(rows)[:] = found.owner + first
        self.number.more(rows)[:] = found.number
        self.rows += rows

    def note(self, keys: _Keys) -> None:
        """Take the keys of the rows that came since the last call."""
        owner = self.owner.take()
        if len(owner):
            for name, parts in self._noted.items():
                parts.append(keys.of(name, owner))

    def batch(self, source: Any) -> Batch:
        """Return the rows gathered so far, and start anew; there are some.

        source  the name of the input, as an Arrow array of one text
        """
        made: dict[str, Any] = {}
        for buffer in (self.entries,) if self.entries else self.blocks:
            made |= dict(buffer.arrays())
        number, rows = self.number.take(), self.rows
        for column in self.keys:
            if column.name == "source":
                made[column.name] = coded(same(rows), source, None)
            elif column.name == "block_no":
                nulls = self.table == RECORD
                made[column.name] = (
                    pa.nulls(rows, pa.int32()) if nulls else array("int32", number, None)
                )
            else:
                made[column.name] = self._key(column)
        self._noted = {name: [] for name in self._noted}
        self.rows = 0
        return self._record_batch(made, rows)

    def _key(self, column: TableColumn) -> Any:
        values, held = _joined(self._noted[column.name])
        if column.arrow != "string":
            return array(column.arrow, values, held)
        words = self._known[column.name]
        return coded(values, words.array(), both(held, words.known(values)))

    @property
    def cells(self) -> int:
        """Values gathered so far."""
        return self.rows * len(self.columns)

    def _record_batch(self, made: Mapping[str, Any], rows: int) -> Batch:
        if not self.columns:  # only the number of rows is wanted
            empty = pa.StructArray.from_buffers(pa.struct([]), rows, [None], null_count=0)
            return pa.RecordBatch.from_struct_array(empty)
        whole = coded_schema(self.table, self.wanted)
        return pa.RecordBatch.from_arrays([made[name] for name in whole.names], schema=whole)


class Decoder:
    """Decodes the chunks of one source; carries what one chunk has to know of another.

    `again` reads the source from where the chunks start, to look ahead in it, `before` what is
    before that; `unknown`, if given, counts the bytes that no column knows. Only the records of
    `selection` give rows, damage and such counts; what they have to know of others is the same
    without it. Where it asks for names, these are decoded first, and of blocks that are not about
    them nothing else; `tasks` is as in `Names`. `kinds` are those of the records that are looked
    at, as `kinds_of`; None: all.
    """

    def __init__(
        self,
        wanted: Wanted,
        damage: DamageLog,
        again: Callable[[], Iterator[Chunk]] | None = None,
        before: Callable[[], Iterator[Chunk]] | None = None,
        unknown: Counter[str] | None = None,
        selection: Selection = ALL_RECORDS,
        tasks: Callable[[], Ints] | None = None,
        *,
        prompt: bool = False,
    ) -> None:
        wanted = {
            name: names
            for name, names in wanted.items()
            if name != DAMAGE and selection.covers(name)
        }
        self.damage = damage
        self.unknown = unknown
        self._prompt = prompt
        self._selection = selection
        look_ahead = None if again is None else partial(_first_offsets, again)
        history = None if before is None else _History(before)
        self._clocks = Clocks(
            look_ahead=look_ahead, look_back=None if history is None else history.offsets
        )
        self._links = TaskLinks(None if history is None else history.links)
        self._words = words()
        self._tables = {
            name: _TableBuffer(name, names, self._words) for name, names in wanted.items()
        }
        specs = [TABLES[name] for name in wanted if name != RECORD]
        self._names = Names(selection.by_name, tasks) if selection.by_name else None
        stubs = any(spec.stub for spec in specs)
        self._carry_clocks = stubs or (RECORD in wanted and not self._names)
        self._carry_tasks = any(spec.task for spec in specs) or (
            RECORD in wanted and self._names is not None
        )
        self._blocks = {
            block.name: (block, [spec.name for spec in specs if spec.block is block])
            for block in (spec.block for spec in specs)
        }
        names = {each.name for table in self._tables.values() for each in table.keys}
        needed = [block for block, _ in self._blocks.values()]
        if self._names:
            needed += blocks_for(selection, wanted if unknown is None else {RECORD, *wanted})
        if RECORD in wanted or Places(needed).records & TASK_RECORDS:
            needed += [WTAS, WQST]
        self._places = Places(needed)
        self.kinds = self._relevant_kinds()
        self._keys = _Keys(names - _OF_ROWS)

    def _relevant_kinds(self) -> Ints | None:
        """Return the kinds of record that matter; None: all."""
        if self._carry_clocks or (self.unknown is not None and not self._names):
            return None
        return np.array([kind << 16 | subtype for kind, subtype in self._places.records])

    def decode(self, chunks: Iterable[Chunk]) -> Iterator[tuple[str, Batch]]:
        """Decode the wanted tables; each table's rows come in record order, in few batches."""
        size, source = 0, None
        for chunk in chunks:
            source = source or pa.array([chunk.source])
            self._add(chunk)
            self.damage.check()
            size += int(chunk.length.sum())
            if self._prompt or size >= EPOCH_BYTES or self._full():
                yield from self._flush(source, 0 if self._prompt else EPOCH_CELLS >> 9)
                size = 0
        self.damage.check()
        if source is not None:
            yield from self._flush(source, 0)

    def _full(self) -> bool:
        """Whether many small records or blocks have made more cells than bytes tell."""
        cells = [table.cells for table in self._tables.values()]
        return max(cells, default=0) + self._keys.rows * len(self._keys.names) >= EPOCH_CELLS

    def _flush(self, source: Any, least: int) -> Iterator[tuple[str, Batch]]:
        """Yield the tables that have so many cells; of the others only the keys are noted."""
        for name, table in self._tables.items():
            table.note(self._keys)
            if table.rows and table.cells >= least:
                yield name, table.batch(source)
        self._keys.clear()

    def _add(self, chunk: Chunk) -> None:
        """Gather what is wanted of a chunk."""
        chunk, keep = self._selected(_relevant(chunk, self.kinds))
        records = Records(chunk, _damage_of(chunk, keep, self.damage), self._places)
        if not len(records):
            return
        keys = KeyColumns(records, self._clocks, self._links, self._words)
        matches = Matches(self._names, records, keys) if self._names else None
        if RECORD in self._tables or self.unknown is not None:
            some = keep if matches is None else both(keep, matches.records)
            self._count_unknown(records, some)
            self._add_records(records, keys, some)
        for block, tables in self._blocks.values():
            found = records.blocks(block)
            found = found if keep is None else found.where(keep[found.owner])
            found = found if matches is None else found.where(matches.of(tables[0], found))
            if len(found):
                for name in tables:
                    self._add_blocks(self._tables[name], found, records, keys)
        keys.carry(clocks=self._carry_clocks, tasks=self._carry_tasks)
        self._keys.add(keys)

    def _selected(self, chunk: Chunk) -> tuple[Chunk, Bools | None]:
        """Return a chunk, and which of its records are selected; None: all.

        Where no record has to know of another, those that are not selected are left out.
        """
        keep = record_mask(self._selection, chunk.buffer, chunk.start, chunk.length)
        if self._carry_clocks or self._carry_tasks:
            return chunk, keep
        return (chunk if keep is None else chunk.where(keep)), None

    def _count_unknown(self, records: Records, keep: Bools | None) -> None:
        if self.unknown is None:
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
            buffer.add(records.chunk.buffer, *keys.placed(buffer.block, every))
        table.add(Blocks(every, every, every, every), self._keys.rows)

    def _add_blocks(
        self, table: _TableBuffer, found: Blocks, records: Records, keys: KeyColumns
    ) -> None:
        if table.entries:
            which = table.entries.add(records.chunk.buffer, found.at, found.length)
            found = found.where(which)
        else:
            main, *extra = table.blocks
            main.add(records.chunk.buffer, found.at, found.length)
            for buffer in extra:
                buffer.add(records.chunk.buffer, *keys.placed(buffer.block, found.owner))
        table.add(found, self._keys.rows)


def _relevant(chunk: Chunk, kinds: Ints | None) -> Chunk:
    """Leave out of a chunk the records that do not matter."""
    if kinds is None:
        return chunk
    found = kinds_of(chunk.buffer, chunk.start)
    return chunk.where(np.flatnonzero(np.isin(found, kinds)))


def _damage_of(chunk: Chunk, keep: Bools | None, damage: DamageLog) -> DamageLog:
    """Return where to note the damage of a chunk: that of selected records is passed on."""
    return damage if keep is None else SelectedDamage(damage, chunk.record_no[keep])


class _History:
    """What the records of a part have to know of those before it; read when first asked for."""

    def __init__(self, before: Callable[[], Iterator[Chunk]]) -> None:
        self._before = before

    @cached_property
    def _carried(self) -> tuple[Clocks, TaskLinks]:
        clocks, links, places = Clocks(), TaskLinks(), Places([WTAS, WQST])
        for chunk in self._before():
            records = Records(chunk, DamageLog(), places)
            KeyColumns(records, clocks, links, words()).carry(clocks=True, tasks=True)
        return clocks, links

    def offsets(self) -> dict[bytes, int]:
        """Return the last UTC offset of each system."""
        return self._carried[0].offsets

    def links(self) -> TaskLinks:
        """Return the tasks."""
        return self._carried[1]


def _first_offsets(
    again: Callable[[], Iterator[Chunk]], systems: frozenset[bytes]
) -> tuple[dict[bytes, int], bool]:
    """Return first UTC offsets by system in a source, and whether all of it was read.

    It is read until those of `systems` are known.
    """
    clocks = Clocks()
    for chunk in again():
        records = Records(chunk, DamageLog())
        KeyColumns(records, clocks, TaskLinks(), words()).carry(clocks=True, tasks=False)
        if systems <= clocks.first.keys():
            return clocks.first, False
    return clocks.first, True


def unknown_bytes(records: Records) -> Counter[str]:
    """Return how many bytes of which block or section of MQ records are not known to any column.

    That is the tail of blocks longer than their map, blocks of a length whose map is not known, and
    sections that are IBM-internal.
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
    record = KINDS[kind]
    block = REGISTRY[record].get(number)
    return f"{record[0]}/{record[1]} triplet {number}" if block is None else block.name


def _known() -> Ints:
    """Return how long a block is known to be, and whether (1) only if it is that long.

    int64 (kinds of record, triplets, 2): zero and 0 where no block is known
    """
    found = np.zeros((len(KINDS), MOST_TRIPLETS, 2), np.int64)
    for kind, record in enumerate(KINDS):
        for number, block in REGISTRY[record].items():
            whole = block.only_whole or block.kept_length is not None
            found[kind, number] = block.kept_length or block.size, whole
    return found


_KNOWN = _known()
