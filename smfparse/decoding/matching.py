"""The blocks and columns to read for the requested rows, and the blocks with the selected names.

Only names in blocks are read; each distinct name of a source is matched once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property

import numpy as np

from smfparse.decoding.arrow import Wanted
from smfparse.decoding.clocks import Clocks, Spacing
from smfparse.decoding.criteria import like
from smfparse.decoding.dictionary import DAMAGE, RECORD, TABLES
from smfparse.decoding.keys import BY_OFFSET, KeyColumns, text_columns
from smfparse.decoding.records import BlockIndex, Blocks, Records
from smfparse.decoding.selection import (
    ALL_RECORDS,
    NAMED,
    JoinKey,
    Selection,
    naming,
    tables_about,
    time_is_derived,
)
from smfparse.decoding.tasks import TASK_KINDS, Elsewhere, TaskLinks
from smfparse.errors import DamageLog
from smfparse.layout.blocks import Block
from smfparse.layout.columns import Field, Part
from smfparse.layout.kinds import Kind, Raw, Text
from smfparse.limits import LIMITS
from smfparse.reading.chunks import Chunk
from smfparse.reading.headers import kinds_of
from smfparse.schemas import QWHC, TASK_RECORDS, WQST, WTAS
from smfparse.vectors import Bools, Ints, distinct, gather


class NameFilter:
    """The selected names, used for all chunks of a source.

    asked  patterns, as in `Selection.by_name`
    tasks  function that returns the result of `queue_tasks`, called on first use
    """

    def __init__(
        self, asked: Mapping[str, frozenset[str]], tasks: Callable[[], Ints] | None = None
    ) -> None:
        self.asked = asked
        self._like = {option: like(patterns) for option, patterns in asked.items()}
        self._known: dict[tuple[str, str], dict[bytes, bool]] = {}
        self._find_tasks = tasks

    @cached_property
    def tasks(self) -> Ints:
        """Places of the tasks that use a selected queue, as returned by `queue_tasks`."""
        assert self._find_tasks is not None
        return self._find_tasks()

    def hits(self, option: str, field: Field, raw: Raw) -> Bools:
        """Return which names, uint8 (rows, width of the field), match a selected pattern."""
        known = self._known.setdefault((option, field.name), {})
        kind: Kind = field.kind
        if isinstance(kind, Part):
            (raw, _), kind = kind.picked(raw), kind.inner
        which, each = distinct(raw)
        found = [name.tobytes() for name in each]
        for name in found:
            if name not in known:
                known[name] = _is_like(self._like[option], kind, name)
        return np.array([known[name] for name in found], np.bool_)[which]


def _is_like(pattern: re.Pattern[str], kind: Kind, raw: bytes) -> bool:
    """Whether a name matches a pattern; a blank name never matches."""
    assert isinstance(kind, Text)
    name = kind.spell(raw)
    return bool(name and pattern.fullmatch(name))


class Matches:
    """Finds the blocks of a chunk that are about the selected names."""

    def __init__(self, names: NameFilter, records: Records, keys: KeyColumns) -> None:
        self._names = names
        self._records = records
        self._keys = keys
        self._in_records: dict[tuple[str, str], Bools] = {}

    def of(self, table: str, found: Blocks) -> Bools:
        """Return which blocks of a table match all selected names, bool (blocks,)."""
        chosen = np.ones(len(found), np.bool_)
        for option in self._names.asked:
            where = naming(option, table)
            assert where is not None  # other tables are not decoded
            if where.key is JoinKey.BLOCK:
                chosen &= self._named(option, where.table, found)
            elif where.key is JoinKey.RECORD:
                chosen &= self._in_record(option, where.table)[found.owner]
            else:
                chosen &= self._in_task[found.owner]
        return chosen

    @cached_property
    def records(self) -> Bools:
        """Which records have a block that matches all selected names, bool (records,)."""
        chosen = np.zeros(len(self._records), np.bool_)
        for table in tables_about(frozenset(self._names.asked)):
            found = self._records.blocks(TABLES[table].block)
            chosen[found.owner[self.of(table, found)]] = True
        return chosen

    def _named(self, option: str, table: str, found: Blocks) -> Bools:
        """Return which blocks of a table contain a name that an option selects."""
        chosen = np.zeros(len(found), np.bool_)
        for block, field in _fields(option, table):
            at, length = found.at, found.length
            if block is QWHC:
                at, length = self._keys.areas.placed(block, found.owner)
            held = np.flatnonzero(length >= field.end)
            raw = gather(self._records.chunk.buffer, at[held] + field.offset, field.kind.width)
            chosen[held] |= self._names.hits(option, field, raw)
        return chosen

    def _in_record(self, option: str, table: str) -> Bools:
        if (option, table) not in self._in_records:
            found = self._records.blocks(TABLES[table].block)
            chosen = np.zeros(len(self._records), np.bool_)
            chosen[found.owner[self._named(option, table, found)]] = True
            self._in_records[option, table] = chosen
        return self._in_records[option, table]

    @cached_property
    def _in_task(self) -> Bools:
        return np.isin(self._keys.task_offset, self._names.tasks)


def _fields(option: str, table: str) -> Iterator[tuple[Block, Field]]:
    """Yield block and field of each name in a table that an option selects by."""
    spec = TABLES[table]
    for block in filter(None, (spec.block, spec.extra)):
        for column in block.columns:
            if column.name in NAMED[option][table]:
                yield block, column.field


def blocks_for(selection: Selection, tables: Iterable[str]) -> list[Block]:
    """Return the blocks with the names by which rows of tables are selected."""
    found: list[str] = []
    for table, where in selection.namings(tables):
        found += [table] if where.key is JoinKey.TASK else [table, where.table]
    return [TABLES[each].block for each in dict.fromkeys(found)]


def queue_tasks(
    chunks: Iterable[Chunk],
    patterns: frozenset[str],
    reach: int = LIMITS.look_back_bytes,
    elsewhere: Elsewhere | None = None,
) -> Ints:
    """Return the starts, ascending, of the tasks of a source with a queue that matches a pattern.

    chunks            chunks with at least the kinds TASK_KINDS
    reach, elsewhere  as in `TaskLinks`

    A task is identified by the byte where its 116/1 record starts, coded by `in_source` if this
    record is in another source. The task of a 116/2 record without a 116/1 record is identified by
    the byte where the 116/2 record starts.
    """
    names = NameFilter({"queue": patterns})
    links, known = TaskLinks(reach=reach, elsewhere=elsewhere), text_columns()
    index = BlockIndex([WTAS, WQST])
    found = [np.zeros(0, np.int64)]
    for chunk in chunks:
        chunk = chunk.where(np.isin(kinds_of(chunk.buffer, chunk.start), TASK_KINDS))
        if not len(chunk.start):
            continue
        records = Records(chunk, DamageLog(), index)
        keys = KeyColumns(records, Clocks(), links, Spacing(), known)
        queues = records.blocks(WQST)
        owner = queues.owner[Matches(names, records, keys).of("wqst", queues)]
        found.append(np.unique(keys.task_offset[owner]))
    return np.unique(np.concatenate(found))


class Needs:
    """The data that a decoder must read, determined once for all chunks.

    unknown  whether bytes that no column contains are counted
    wanted   tables that can have rows, and their columns
    clocks   whether records depend on the UTC offsets of earlier records
    counted  whether records are selected by the time at which they count, or by a time in a zone
    tasks    whether records depend on earlier 116/1 records
    dumps    whether the dump of each record must be identified
    blocks   {name: (block, tables of the block)}, for blocks from which rows are made
    index    lookup table for these blocks, and for blocks with the names that select rows
    """

    def __init__(
        self, wanted: Wanted, selection: Selection = ALL_RECORDS, *, unknown: bool = False
    ) -> None:
        self.selection = selection
        self.unknown = unknown
        self.wanted: Wanted = {
            name: names
            for name, names in wanted.items()
            if name != DAMAGE and selection.covers(name)
        }
        specs = [TABLES[name] for name in self.wanted if name != RECORD]
        records, by_name = RECORD in self.wanted, bool(selection.by_name)
        self.counted = time_is_derived(selection)
        self.clocks = self._by_offset() and (
            any(spec.stub for spec in specs) or (records and not by_name)
        )
        self.tasks = any(spec.task for spec in specs) or (records and (by_name or self.counted))
        self.dumps = "dump_start" in (self.wanted.get(RECORD) or ())
        self.blocks = {
            block.name: (block, [spec.name for spec in specs if spec.block is block])
            for block in (spec.block for spec in specs)
        }
        self.index = BlockIndex(self._searched())

    def _by_offset(self) -> bool:
        """Whether a wanted column or the selection depends on the UTC offset of a system."""
        return self.counted or any(
            names is None or names & BY_OFFSET for names in self.wanted.values()
        )

    def _searched(self) -> list[Block]:
        found = [block for block, _ in self.blocks.values()]
        if self.selection.by_name:
            tables = {RECORD, *self.wanted} if self.unknown else self.wanted
            found += blocks_for(self.selection, tables)
        if RECORD in self.wanted or BlockIndex(found).records & TASK_RECORDS:
            found += [WTAS, WQST]
        return found

    @cached_property
    def kinds(self) -> Ints | None:
        """The kinds of record to decode, as in `kinds_of`; None: all."""
        of_all = RECORD in self.wanted or self.unknown
        if self.clocks or (of_all and not self.selection.by_name):
            return None
        return np.array([kind << 16 | subtype for kind, subtype in self.index.records])
