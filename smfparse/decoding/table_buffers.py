"""Buffers for the wanted columns of tables, gathered over many chunks until a batch is made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from smfparse.decoding.arrow import Batch, array, coded, coded_schema, hex_array
from smfparse.decoding.dictionary import (
    IDENTITY_COLUMNS,
    KEY_COLUMNS,
    RECORD,
    RECORD_BLOCKS,
    RECORD_FIELDS,
    STATISTICS_KEYS,
    TABLES,
    TASK_KEYS,
    TableColumn,
    columns,
    key_columns,
)
from smfparse.decoding.duplicates import FINGERPRINT
from smfparse.decoding.gathering import BlockBuffer, EntryBuffer, Growing
from smfparse.decoding.keys import KeyColumns, TextColumn
from smfparse.decoding.records import Blocks
from smfparse.decoding.tasks import Elsewhere
from smfparse.layout.clocks import TIMESTAMP, US_PER_SECOND
from smfparse.layout.kinds import Mask, Values
from smfparse.vectors import Ints, both, same, strings

OF_ROWS = frozenset({"source", "block_no"})
"""Key columns whose values do not come from the records."""
_NUMPY = {
    "int32": "i4",
    "uint8": "u1",
    "uint16": "u2",
    "double": "f8",
    "string": "i4",
    "uint64": "u8",
}
"""numpy types of key columns, with codes for texts; the default is an 8-byte integer."""
_AHEAD = "seconds_ahead"
"""Name of the key column by which TOD clock times are corrected."""
_NATIVE = {
    each.name: FINGERPRINT if each.opaque else np.dtype(_NUMPY.get(each.arrow, "i8"))
    for each in (*KEY_COLUMNS, *TASK_KEYS, *STATISTICS_KEYS, *RECORD_FIELDS, *IDENTITY_COLUMNS)
}


_ONE = np.zeros(1, np.int32)
"""Default numbers of sources: only source 0."""


class KeyBuffer:
    """The key columns of the records of many chunks, to which the rows of all tables refer."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(names)
        self.clear()

    def clear(self) -> None:
        """Remove all keys."""
        self.rows = 0
        self._numbers: set[int] = set()
        self._sources: list[Values] = []
        self._parts: dict[str, list[tuple[Values, Mask]]] = {name: [] for name in self.names}
        self._whole: dict[str, tuple[Values, Mask]] = {}

    def add(self, keys: KeyColumns, sources: Values = _ONE) -> None:
        """Add the keys of a chunk's records; `sources`: numbers of the sources in the chunk."""
        self._numbers.update(sources.tolist())
        chunk = keys.records.chunk
        self._sources.append(
            sources[chunk.which] if chunk.sources else np.broadcast_to(sources, keys.rows)
        )
        for name, parts in self._parts.items():
            parts.append(keys.column(name))
        self.rows += keys.rows

    def of(self, name: str, rows: Ints) -> tuple[Values, Mask]:
        """Return values (or codes of texts) of a key column for `rows`, and which are present."""
        if name not in self._whole:
            values, held = _joined(self._parts[name])
            self._whole[name] = values.astype(_NATIVE[name]), held
        values, held = self._whole[name]
        return values[rows], None if held is None else held[rows]

    def sources(self, rows: Ints) -> Values:
        """Return the numbers of the sources of the records `rows`."""
        if len(self._numbers) == 1:
            return np.broadcast_to(self._sources[0][:1], len(rows))
        if len(self._sources) > 1:
            self._sources = [np.concatenate(self._sources)]
        return self._sources[0][rows]


class TableBuffer:
    """The wanted columns of one table, over many chunks."""

    def __init__(
        self, table: str, wanted: frozenset[str] | None, texts: Mapping[str, TextColumn]
    ) -> None:
        self.table = table
        self.wanted = wanted
        self.columns = columns(table, wanted)
        names = {each.name for each in self.columns}
        own_keys = (*RECORD_FIELDS, *IDENTITY_COLUMNS) if table == RECORD else ()
        keyed = (*key_columns(table), *own_keys)
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
        self._texts = texts
        self.owner = Growing("i8")
        self.number = Growing("i4")
        self._moments = [
            each.name for each in self.columns if each.place and each.arrow == TIMESTAMP
        ]
        self.asked = {each.name for each in self.keys} - OF_ROWS
        """Names of the key columns to store: requested columns, and _AHEAD to correct moments."""
        if self._moments:
            self.asked.add(_AHEAD)
        self._noted: dict[str, list[tuple[Values, Mask]]] = {each: [] for each in self.asked}
        self._sources: list[Values] = []
        self.rows = 0

    def add(self, found: Blocks, first: int) -> None:
        """Add the rows of a chunk; `first`: index of the chunk's first record in the keys."""
        rows = len(found)
        self.owner.more(rows)[:] = found.owner + first
        self.number.more(rows)[:] = found.number
        self.rows += rows

    def note(self, keys: KeyBuffer) -> None:
        """Store the keys of the rows added since the last call."""
        owner = self.owner.take()
        if len(owner):
            self._sources.append(keys.sources(owner))
            for name, parts in self._noted.items():
                parts.append(keys.of(name, owner))

    def batch(self, sources: Any, elsewhere: Elsewhere | None = None) -> Batch:
        """Return the gathered rows (at least one), then clear the buffer.

        sources    names of the sources by number, as an Arrow array
        elsewhere  other sources, which can contain tasks of the rows; None: no other sources
        """
        made: dict[str, Any] = {}
        for buffer in (self.entries,) if self.entries else self.blocks:
            made |= dict(buffer.arrays())
        number, rows = self.number.take(), self.rows
        for column in self.keys:
            if column.name == "source":
                made[column.name] = self._source(sources)
            elif column.name == "task_source":
                made[column.name] = self._task_source(sources, elsewhere)
            elif column.name == "block_no":
                nulls = self.table == RECORD
                made[column.name] = (
                    pa.nulls(rows, pa.int32()) if nulls else array("int32", number, None)
                )
            else:
                made[column.name] = self._key(column)
        for name in self._moments:
            made[name] = self._corrected(made[name])
        self._noted = {name: [] for name in self._noted}
        self._sources = []
        self.rows = 0
        return self._record_batch(made, rows)

    def _source(self, sources: Any) -> Any:
        first = int(self._sources[0][0])
        # An array with stride 0 repeats one source.
        if all(not each.strides[0] and each[0] == first for each in self._sources):
            return coded(same(self.rows), sources[first : first + 1], None)
        return coded(np.concatenate(self._sources), sources, None)

    def _corrected(self, moments: Any) -> Any:
        """Return moments, corrected to UTC if the TOD clock was ahead of UTC."""
        ahead, _ = _joined(self._noted[_AHEAD])
        if not ahead.any():
            return moments
        known = moments.is_valid().to_numpy(zero_copy_only=False)
        numbers = moments.cast(pa.int64()).fill_null(0).to_numpy() - ahead * US_PER_SECOND
        return pa.array(numbers, pa.int64(), mask=~known).cast(moments.type)

    def _task_source(self, sources: Any, elsewhere: Elsewhere | None) -> Any:
        others, held = _joined(self._noted["task_source"])
        own = np.concatenate(self._sources)
        if not others.any():
            return coded(own, sources, held)
        assert elsewhere is not None
        names = {name: number for number, name in enumerate(sources.to_pylist())}
        codes = np.array([names.setdefault(each, len(names)) for each in elsewhere.names], "i4")
        return coded(np.where(others, codes[others - 1], own), strings(names), held)

    def _key(self, column: TableColumn) -> Any:
        values, held = _joined(self._noted[column.name])
        if column.opaque:
            return hex_array(values.view(np.uint8).reshape(len(values), -1), held)
        if column.arrow != "string":
            return array(column.arrow, values, held)
        texts = self._texts[column.name]
        return coded(values, texts.array(), both(held, texts.known(values)))

    @property
    def cells(self) -> int:
        """Number of gathered values."""
        return self.rows * len(self.columns)

    def _record_batch(self, made: Mapping[str, Any], rows: int) -> Batch:
        if not self.columns:  # only the number of rows is requested
            empty = pa.StructArray.from_buffers(pa.struct([]), rows, [None], null_count=0)
            return pa.RecordBatch.from_struct_array(empty)
        whole = coded_schema(self.table, self.wanted)
        return pa.RecordBatch.from_arrays([made[name] for name in whole.names], schema=whole)


def _joined(parts: Sequence[tuple[Values, Mask]]) -> tuple[Values, Mask]:
    """Return the values of many chunks as one array, and which are present; None: all."""
    if len(parts) == 1:
        return parts[0]
    values = np.concatenate([each for each, _ in parts])
    if all(mask is None for _, mask in parts):
        return values, None
    held = np.concatenate(
        [np.ones(len(each), np.bool_) if mask is None else mask for each, mask in parts]
    )
    return values, None if held.all() else held
