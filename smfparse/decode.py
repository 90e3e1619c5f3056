"""Layouts, bytes and positions to Arrow record batches.

The seam of the engine: a chunk of records goes in, (table name, RecordBatch) pairs come out, each
table's rows in record order. Only the tables and columns that are wanted are decoded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from smfparse.arrays import array, arrow_type
from smfparse.buffers import BlockBuffer, EntryBuffer, Growing
from smfparse.columns import (
    RECORD,
    RECORD_BLOCKS,
    RECORD_FIELDS,
    TableColumn,
    columns,
    table_names,
    title,
)
from smfparse.columns import keys as key_columns
from smfparse.errors import DamageLog, RequestError
from smfparse.fields import Mask, Values
from smfparse.framing import Chunk, Ints
from smfparse.keys import Clocks, KeyColumns, Words, words
from smfparse.layout import Block
from smfparse.records import MOST_TRIPLETS, Blocks, Bools, Records, joined
from smfparse.schemas import QWST, REGISTRY, TABLES, TASK_RECORDS
from smfparse.selection import EVERYTHING, SelectedDamage, Selection
from smfparse.tasks import TaskLinks

Wanted: TypeAlias = Mapping[str, frozenset[str] | None]
"""Table name to the columns wanted of it; None: all."""
Batch: TypeAlias = Any
"""A pyarrow.RecordBatch."""


EPOCH_BYTES = 64 << 20
"""Bytes of input after which all tables give a batch."""
EPOCH_CELLS = 1 << 24
"""Values of one table, or of key columns, after which they do as well."""
_TYPE_AT = QWST.field("sm115rty").offset
_SUBTYPE_AT = QWST.field("sm115stf").offset
_NATIVE = {"int32": "i4", "uint8": "u1", "double": "f8"}
"""numpy types of key columns; the others are 8-byte integers."""


def wanted_tables(names: Iterable[str]) -> Wanted:
    """Return the request for all columns of the tables `names`; RequestError for unknown ones."""
    names = list(names)
    unknown = sorted(set(names) - set(table_names()))
    if unknown:
        raise RequestError(f"no table {', '.join(unknown)}; there are {', '.join(table_names())}")
    return dict.fromkeys(names)


@cache
def schema(table: str) -> Any:
    """Return the Arrow schema of a table, with description, unit and since of each column."""
    fields = [
        pa.field(each.name, arrow_type(each.arrow), metadata=each.metadata)
        for each in columns(table)
    ]
    return pa.schema(fields, metadata={"description": title(table)})


def _sources() -> dict[str, tuple[Block, list[tuple[tuple[int, int], int]]]]:
    """Turn the registry round: block name to the places it stands in."""
    found: dict[str, tuple[Block, list[tuple[tuple[int, int], int]]]] = {}
    for record, triplets in REGISTRY.items():
        for number, each in triplets.items():
            found.setdefault(each.name, (each, []))[1].append((record, number))
    return found


_SOURCES = _sources()


class _Keys:
    """Key columns of the records of many chunks: what the rows of all tables refer to."""

    def __init__(self, names: Iterable[str], known: Mapping[str, Words]) -> None:
        self.names = tuple(names)
        self._words = known
        self.clear()

    def clear(self) -> None:
        """Start anew."""
        self.source = ""
        self.rows = 0
        self._parts: dict[str, list[tuple[Values, Mask]]] = {name: [] for name in self.names}
        self._whole: dict[str, tuple[Values, Mask]] = {}

    def add(self, keys: KeyColumns) -> None:
        """Take the records of a chunk."""
        for name, parts in self._parts.items():
            parts.append(keys.column(name))
        self.source = keys.records.chunk.source
        self.rows += keys.rows

    def array(self, column: TableColumn, rows: Ints) -> Any:
        """Return a key column of the records `rows`."""
        values, held = self._column(column.name)
        values = values[rows]
        if held is not None:
            held = held[rows]
            held = None if held.all() else held
        if column.arrow == "string":
            return self._words[column.name].array(values, held)
        return array(column.arrow, values.astype(_NATIVE.get(column.arrow, "i8")), held)

    def _column(self, name: str) -> tuple[Values, Mask]:
        """Return a key column of all records."""
        if name not in self._whole:
            parts = self._parts[name]
            held = None
            if any(mask is not None for _, mask in parts):
                held = np.concatenate(
                    [np.ones(len(each), np.bool_) if mask is None else mask for each, mask in parts]
                )
            self._whole[name] = np.concatenate([values for values, _ in parts]), held
        return self._whole[name]


class _TableBuffer:
    """The wanted columns of one table, over many chunks."""

    def __init__(self, table: str, wanted: frozenset[str] | None) -> None:
        self.table = table
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
        self.owner = Growing("i8")
        self.number = Growing("i4")

    def add(self, found: Blocks, first: int) -> None:
        """Note the rows of a chunk whose records start at `first` among the keys."""
        rows = len(found)
        self.owner.more(rows)[:] = found.owner + first
        self.number.more(rows)[:] = found.number

    def batch(self, keys: _Keys) -> Batch:
        """Return the rows gathered so far, and start anew; None where there are none."""
        rows, number = self.owner.take(), self.number.take()
        if not len(rows):
            return None
        made: dict[str, Any] = {}
        for buffer in (self.entries,) if self.entries else self.blocks:
            made |= dict(buffer.arrays())
        for column in self.keys:
            made[column.name] = self._key(column, keys, rows, number)
        return self._record_batch(made, len(rows))

    def _key(self, column: TableColumn, keys: _Keys, rows: Ints, number: Ints) -> Any:
        if column.name == "source":
            return pa.repeat(pa.scalar(keys.source, pa.string()), len(rows))
        if column.name == "block_no":
            nulls = self.table == RECORD
            return pa.nulls(len(rows), pa.int32()) if nulls else array("int32", number, None)
        return keys.array(column, rows)

    def _record_batch(self, made: Mapping[str, Any], rows: int) -> Batch:
        if not self.columns:  # only the number of rows is wanted
            empty = pa.StructArray.from_buffers(pa.struct([]), rows, [None], null_count=0)
            return pa.RecordBatch.from_struct_array(empty)
        whole = schema(self.table)
        fields = [whole.field(each.name) for each in self.columns]
        arrays = [made[each.name] for each in self.columns]
        return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


class Decoder:
    """Decodes the chunks of one source; carries what one chunk has to know of another.

    `again` reads the source from its start, to look ahead in it; `unknown`, if given, counts the
    bytes that no column knows. Only the records of `selection` give rows, damage and such counts;
    what they have to know of others is the same without it.
    """

    def __init__(
        self,
        wanted: Wanted,
        damage: DamageLog,
        again: Callable[[], Iterator[Chunk]] | None = None,
        unknown: Counter[str] | None = None,
        selection: Selection = EVERYTHING,
    ) -> None:
        self.damage = damage
        self.unknown = unknown
        self._selection = selection
        look_ahead = None if again is None else partial(_first_offsets, again)
        self._clocks = Clocks(look_ahead=look_ahead)
        self._links = TaskLinks()
        self._words = words()
        self._tables = {name: _TableBuffer(name, names) for name, names in wanted.items()}
        specs = [TABLES[name] for name in wanted if name != RECORD]
        self._carry_clocks = RECORD in wanted or any(spec.stub for spec in specs)
        self._carry_tasks = any(spec.task for spec in specs)
        self._blocks = {
            block.name: (block, places, [spec.name for spec in specs if spec.block is block])
            for block, places in _SOURCES.values()
            if any(spec.block is block for spec in specs)
        }
        self._places = self._relevant_places()
        names = {each.name for table in self._tables.values() for each in table.keys}
        self._keys = _Keys(names - {"source", "block_no"}, self._words)

    def _relevant_places(self) -> frozenset[tuple[int, int]] | None:
        """Return the kinds of record that matter; None: all."""
        if self._carry_clocks or self.unknown is not None:
            return None
        found = {record for _, places, _ in self._blocks.values() for record, _ in places}
        return frozenset(found | (TASK_RECORDS if found & TASK_RECORDS else set()))

    def decode(self, chunks: Iterable[Chunk]) -> Iterator[tuple[str, Batch]]:
        """Decode the wanted tables; each table's rows come in record order, in few batches."""
        size = 0
        for chunk in chunks:
            self._add(chunk)
            size += int(chunk.length.sum())
            if size >= EPOCH_BYTES or self._full():
                yield from self._flush()
                size = 0
        yield from self._flush()

    def _full(self) -> bool:
        """Whether many small records or blocks have made more cells than bytes tell."""
        cells = [table.owner.rows * len(table.columns) for table in self._tables.values()]
        return max(cells, default=0) + self._keys.rows * len(self._keys.names) >= EPOCH_CELLS

    def _flush(self) -> Iterator[tuple[str, Batch]]:
        for name, table in self._tables.items():
            batch = table.batch(self._keys)
            if batch is not None:
                yield name, batch
        self._keys.clear()

    def _add(self, chunk: Chunk) -> None:
        """Gather what is wanted of a chunk."""
        chunk, keep = self._selected(_relevant(chunk, self._places))
        records = Records(chunk, _damage_of(chunk, keep, self.damage))
        if self.unknown is not None:
            counted = records if keep is None else Records(_where(chunk, keep), self.damage)
            self.unknown.update(unknown_bytes(counted))
        if not len(records):
            return
        keys = KeyColumns(records, self._clocks, self._links, self._words)
        if RECORD in self._tables:
            self._add_records(records, keys, keep)
        for block, places, tables in self._blocks.values():
            found = joined([records.blocks(record, number, block) for record, number in places])
            found = found if keep is None else found.where(keep[found.owner])
            if len(found):
                for name in tables:
                    self._add_blocks(self._tables[name], found, records, keys)
        keys.carry(clocks=self._carry_clocks, tasks=self._carry_tasks)
        self._keys.add(keys)

    def _selected(self, chunk: Chunk) -> tuple[Chunk, Bools | None]:
        """Return a chunk, and which of its records are selected; None: all.

        Where no record has to know of another, those that are not selected are left out.
        """
        keep = self._selection.records(chunk.buffer, chunk.start, chunk.length)
        if self._carry_clocks or self._carry_tasks:
            return chunk, keep
        return _where(chunk, keep), None

    def _add_records(self, records: Records, keys: KeyColumns, keep: Bools | None) -> None:
        table = self._tables[RECORD]
        every = np.arange(len(records)) if keep is None else np.flatnonzero(keep)
        for buffer in table.blocks:
            buffer.add(records.chunk.buffer, *_placed(keys.header(buffer.block), every, records))
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
                placed = _placed(keys.header(buffer.block), found.owner, records)
                buffer.add(records.chunk.buffer, *placed)
        table.add(found, self._keys.rows)


def _relevant(chunk: Chunk, places: frozenset[tuple[int, int]] | None) -> Chunk:
    """Leave out of a chunk the records that do not matter."""
    if places is None:
        return chunk
    kind = chunk.buffer[chunk.start + _TYPE_AT].astype(np.int64) << 16
    kind |= chunk.buffer[chunk.start + _SUBTYPE_AT].astype(np.int64) << 8
    kind |= chunk.buffer[chunk.start + _SUBTYPE_AT + 1]
    return _where(chunk, np.isin(kind, [smf_type << 16 | subtype for smf_type, subtype in places]))


def _damage_of(chunk: Chunk, keep: Bools | None, damage: DamageLog) -> DamageLog:
    """Return where to note the damage of a chunk: that of selected records is passed on."""
    return damage if keep is None else SelectedDamage(damage, chunk.record_no[keep])


def _where(chunk: Chunk, keep: Bools | None) -> Chunk:
    """Return a chunk with the records for which `keep` is true; None: with all."""
    if keep is None:
        return chunk
    return Chunk(
        chunk.source,
        chunk.buffer,
        chunk.start[keep],
        chunk.length[keep],
        chunk.offset[keep],
        chunk.record_no[keep],
    )


def _placed(area: Blocks, owner: Ints, records: Records) -> tuple[Ints, Ints]:
    """Return position and length of a block of the QWHS area for records; length 0: it has none."""
    at, length = records.chunk.start.copy(), np.zeros(len(records), np.int64)
    at[area.owner], length[area.owner] = area.at, area.length
    return at[owner], length[owner]


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
    found: Counter[str] = Counter()
    for record, triplets in REGISTRY.items():
        for number in range(1, MOST_TRIPLETS) if len(records.of(record)) else ():
            block = triplets.get(number)
            if block is None:
                name = f"{record[0]}/{record[1]} triplet {number}"
                found[name] += int(records.section(record, number).length.sum())
            else:
                length = records.section(record, number).length
                other = length != (block.kept_length or block.size)
                whole = other & (block.only_whole or block.kept_length is not None)
                found[block.name] += int(np.where(whole, length, length - block.size).clip(0).sum())
    return +found
