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

from smfparse.arrays import array, arrow_type, gather, kind_array
from smfparse.columns import KEYS, RECORD, RECORD_BLOCKS, columns, table_names, title
from smfparse.columns import keys as key_columns
from smfparse.errors import DamageLog, RequestError
from smfparse.fields import BLANK, Mask, Numeric, Raw
from smfparse.framing import Chunk, Ints
from smfparse.keys import Clocks, KeyColumns
from smfparse.layout import Block, Child, Column
from smfparse.records import Blocks, Bools, Records, joined
from smfparse.schemas import QWST, REGISTRY, TABLES, Table
from smfparse.tasks import TaskLinks

Wanted: TypeAlias = Mapping[str, frozenset[str] | None]
"""Table name to the columns wanted of it; None: all."""
Batch: TypeAlias = Any
"""A pyarrow.RecordBatch."""


def _subsystem(records: Records) -> Any:
    kind = QWST.field("sm115SSI").kind
    return kind_array(kind, kind.parts[0], records.header_raw("sm115SSI"), records.has_subtype)


def _subtype(records: Records) -> Any:
    return array("int32", records.subtype.astype(np.int32), records.has_subtype)


_MOST_TRIPLETS = 16
"""No record has more triplets (115/1 has 12)."""

_RECORD_FIELDS: dict[str, Callable[[Records], Any]] = {
    "length": lambda records: array("int64", records.chunk.length, None),
    "flags": lambda records: array("uint8", records.header("sm115flg"), None),
    "type": lambda records: array("uint8", records.type.astype(np.uint8), None),
    "subtype": _subtype,
    "subsystem": _subsystem,
}
"""How the columns of `record` that are neither keys nor of QWHS or QWHX are made."""


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


class Decoder:
    """Decodes the chunks of one source, in order; carries what one chunk has to know of another.

    `again` reads the source from its start, to look ahead in it; `unknown`, if given, counts the
    bytes that no column knows.
    """

    def __init__(
        self,
        wanted: Wanted,
        damage: DamageLog,
        again: Callable[[], Iterator[Chunk]] | None = None,
        unknown: Counter[str] | None = None,
    ) -> None:
        self.wanted = wanted
        self.damage = damage
        self.unknown = unknown
        look_ahead = None if again is None else partial(_first_offsets, again)
        self._clocks = Clocks(look_ahead=look_ahead)
        self._links = TaskLinks()
        specs = [TABLES[name] for name in wanted if name != RECORD]
        self._carry_clocks = RECORD in wanted or any(spec.stub for spec in specs)
        self._carry_tasks = any(spec.task for spec in specs)

    def decode(self, chunk: Chunk) -> Iterator[tuple[str, Batch]]:
        """Decode the wanted tables of a chunk; a table without rows gives no batch."""
        records = Records(chunk, self.damage)
        if self.unknown is not None:
            self.unknown.update(unknown_bytes(records))
        keys = KeyColumns(records, self._clocks, self._links)
        if RECORD in self.wanted and len(records):
            yield RECORD, self._records(records, keys)
        for block, places in _SOURCES.values():
            tables = [
                spec for name, spec in TABLES.items() if spec.block is block and name in self.wanted
            ]
            if not tables:
                continue
            found = joined([records.blocks(record, number, block) for record, number in places])
            if block.kept_length is not None:
                found = found.where(found.length == block.kept_length)
            if len(found):
                yield from self._block(tables, block, found, keys)
        keys.carry(clocks=self._carry_clocks, tasks=self._carry_tasks)

    def _wants(self, table: str, column: str) -> bool:
        columns = self.wanted[table]
        return columns is None or column in columns

    def _batch(self, table: str, rows: int, made: Mapping[str, Any]) -> Batch:
        fields = [each for each in schema(table) if self._wants(table, each.name)]
        arrays = [made[each.name] for each in fields]
        if not fields:  # only the number of rows is wanted
            empty = pa.StructArray.from_buffers(pa.struct([]), rows, [None], null_count=0)
            return pa.RecordBatch.from_struct_array(empty)
        return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))

    def _records(self, records: Records, keys: KeyColumns) -> Batch:
        rows = len(records)
        made = {
            each.name: keys.of_records(each.name) for each in KEYS if self._wants(RECORD, each.name)
        }
        made |= {
            name: make(records)
            for name, make in _RECORD_FIELDS.items()
            if self._wants(RECORD, name)
        }
        for block in RECORD_BLOCKS:
            found = keys.header(block)
            place = np.full(rows, -1, np.int64)
            place[found.owner] = np.arange(len(found))
            for name, column in self._own(RECORD, block, block.columns, found, records):
                made[name] = column.take(pa.array(place, mask=place < 0))
        return self._batch(RECORD, rows, made)

    def _block(
        self, tables: list[Table], block: Block, found: Blocks, keys: KeyColumns
    ) -> Iterator[tuple[str, Batch]]:
        for spec in tables:
            if spec.child:
                which, made = self._entries(spec, spec.child, block, found, keys.records)
                if not which.size:
                    continue
                owners = Blocks(
                    found.owner[which], found.at[which], found.length[which], found.number[which]
                )
            else:
                owners = found
                made = dict(self._own(spec.name, block, spec.columns, found, keys.records))
                if spec.extra:
                    made |= self._extra(spec, spec.extra, found, keys)
            for each in key_columns(spec.name):
                if self._wants(spec.name, each.name):
                    made[each.name] = keys.of_blocks(each.name, owners)
            yield spec.name, self._batch(spec.name, len(owners), made)

    def _own(
        self,
        table: str,
        block: Block,
        columns: Iterable[Column],
        found: Blocks,
        records: Records,
    ) -> Iterator[tuple[str, Any]]:
        """Decode the wanted ones of a block's own columns."""
        wanted = [column for column in columns if self._wants(table, column.name)]
        if not wanted:
            return
        rows = gather(records.chunk.buffer, found.at, block.size)
        version = _version_words(block, rows)
        for column in wanted:
            width = column.field.kind.width
            raw = rows[:, column.offset : column.offset + width]
            held = _held(block, column, column.offset, found.length, version)
            yield column.name, kind_array(column.field.kind, column.part, raw, held)

    def _extra(
        self, spec: Table, block: Block, found: Blocks, keys: KeyColumns
    ) -> Iterator[tuple[str, Any]]:
        """Decode a block of the QWHS area, a row for each of the blocks `found`."""
        area = keys.header(block)
        place = np.full(len(keys.records), -1, np.int64)
        place[area.owner] = np.arange(len(area))
        rows = place[found.owner]
        for name, column in self._own(spec.name, block, block.columns, area, keys.records):
            yield name, column.take(pa.array(rows, mask=rows < 0))

    def _entries(
        self, spec: Table, child: Child, block: Block, found: Blocks, records: Records
    ) -> tuple[Ints, dict[str, Any]]:
        """Decode the entries of a repeated group in which something is not zero.

        Returns the index of the block of each row, and the columns.
        """
        rows = gather(records.chunk.buffer, found.at, block.size)
        version = _version_words(block, rows)
        held = {
            column.name: _held_entries(block, child, column, found.length, version)
            for column in child.columns
        }
        which, entry = np.nonzero(_used(child, rows, held))
        made: dict[str, Any] = {}
        for column in child.columns:
            if self._wants(spec.name, column.name):
                at = which * block.size + column.offset + entry * column.stride
                raw = gather(rows.reshape(-1), at, column.field.kind.width)
                mask = held[column.name]
                valid = None if mask is None else mask[which, entry]
                made[column.name] = kind_array(column.field.kind, column.part, raw, valid)
        for position, name in enumerate(child.index):
            labels = pa.array([cell[position] for cell in child.cells])
            made[name] = labels.cast(schema(spec.name).field(name).type).take(pa.array(entry))
        return which, made


def _first_offsets(
    again: Callable[[], Iterator[Chunk]], systems: frozenset[bytes]
) -> dict[bytes, int]:
    """Return the first UTC offset of each of `systems` in a source, as far as there is one."""
    clocks = Clocks()
    for chunk in again():
        records = Records(chunk, DamageLog())
        KeyColumns(records, clocks, TaskLinks()).carry(clocks=True, tasks=False)
        if systems <= clocks.first.keys():
            break
    return {name: clocks.first[name] for name in systems & clocks.first.keys()}


def unknown_bytes(records: Records) -> Counter[str]:
    """Return how many bytes of which block or section of MQ records are not known to any column.

    That is the tail of blocks longer than their map, blocks of a length whose map is not known, and
    sections that are IBM-internal.
    """
    found: Counter[str] = Counter()
    for record, triplets in REGISTRY.items():
        for number in range(1, _MOST_TRIPLETS):
            block = triplets.get(number)
            if block is None:
                name = f"{record[0]}/{record[1]} triplet {number}"
                found[name] += int(records.section(record, number).length.sum())
            else:
                length = records.blocks(record, number, block).length
                other = length != (block.kept_length or block.size)
                whole = other & (block.only_whole or block.kept_length is not None)
                found[block.name] += int(np.where(whole, length, length - block.size).clip(0).sum())
    return +found


def _version_words(block: Block, rows: Raw) -> Ints | None:
    word = block.version
    if word is None:
        return None
    assert isinstance(word.kind, Numeric)
    values, _ = word.kind.values(rows[:, word.offset : word.end])
    return values.astype(np.int64)


def _held(block: Block, column: Column, offset: int, length: Ints, version: Ints | None) -> Mask:
    """Return which blocks are long and new enough for a column: `Block.holds`, for many blocks."""
    least = offset + column.field.kind.width
    held = length == block.size if block.only_whole else length >= least
    gate, word = column.field.gate, block.version
    if gate is not None and version is not None and word is not None:
        held = held & ((version >= gate) | (length < word.end))
    return None if held.all() else held


def _held_entries(
    block: Block, child: Child, column: Column, length: Ints, version: Ints | None
) -> Mask:
    """Return the same for each entry of a repeated group: shape (blocks, entries)."""
    last = column.offset + (len(child.cells) - 1) * column.stride
    if _held(block, column, last, length, version) is None:
        return None
    every = np.ones(len(length), np.bool_)
    masks = (
        _held(block, column, column.offset + number * column.stride, length, version)
        for number in range(len(child.cells))
    )
    return np.stack([every if mask is None else mask for mask in masks], axis=1)


def _used(child: Child, rows: Raw, held: Mapping[str, Mask]) -> Bools:
    """Return which entries are used: shape (blocks, entries)."""
    used = np.zeros((len(rows), len(child.cells)), np.bool_)
    for column in child.columns:
        kind = column.field.kind
        if child.used is None:
            counts = isinstance(kind, Numeric)
            dtype, least = f"u{kind.width}", 1
        else:
            counts = column.field.name == child.used
            dtype, least = "u1", BLANK[0] + 1
        if counts:
            strides = (rows.shape[1], column.stride)
            entries = np.ndarray(used.shape, dtype, rows, column.offset, strides)
            mask = held[column.name]
            used |= entries >= least if mask is None else (entries >= least) & mask
    return used
