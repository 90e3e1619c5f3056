"""A selection as a mask over SMF headers and over rows, and as an SQL condition for DuckDB.

The condition reads columns of the table itself, and other tables by lookups.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import pyarrow as pa

from smfparse.decoding.criteria import Types, like, regex
from smfparse.decoding.dictionary import RECORD, TABLES
from smfparse.decoding.selection import (
    BY_NAME,
    NAMED,
    JoinKey,
    Selection,
    naming,
    tables_about,
    without_time,
)
from smfparse.decoding.zones import AFTER_US, BEFORE_US, OFFSET, in_zone, shown_sql
from smfparse.errors import Damage, DamageLog
from smfparse.layout.clocks import UNIX_EPOCH, US_PER_DAY, US_PER_SECOND
from smfparse.layout.kinds import Text
from smfparse.reading.headers import Headers
from smfparse.schemas import QWST, WHOLE_RECORDS
from smfparse.vectors import Bools, Bytes, Ints, distinct


class Lookup(NamedTuple):
    """Rows of a table that share a key with selected rows of another table.

    table  the other table
    key    the shared key
    asked  the selection of rows of the other table
    """

    table: str
    key: JoinKey
    asked: Selection


def named_in(selection: Selection, table: str) -> Iterator[tuple[tuple[str, ...], frozenset[str]]]:
    """Yield the columns of a table with names of each kind, and the patterns for these names."""
    for option, patterns in selection.by_name.items():
        if table in NAMED[option]:
            yield NAMED[option][table], patterns


def lookups(selection: Selection, table: str) -> Iterator[list[Lookup]]:
    """Yield lists of lookups: the key of a selected row is in at least one lookup of each list."""
    if table == RECORD:
        if selection.by_name:
            asked = _asking(selection.by_name)
            tables = tables_about(frozenset(selection.by_name))
            yield [Lookup(each, JoinKey.RECORD, asked) for each in tables]
        return
    if selection.holds(table) is None:
        yield [Lookup(RECORD, JoinKey.RECORD, Selection(types=selection.types))]
    for option, patterns in selection.by_name.items():
        found = naming(option, table)
        if found is not None and found.table != table:
            yield [Lookup(found.table, found.key, _asking({option: patterns}))]


def _asking(by_name: Mapping[str, frozenset[str]]) -> Selection:
    asked: dict[str, Any] = {BY_NAME[option]: patterns for option, patterns in by_name.items()}
    return Selection(**asked)


_KEY_SQL = {
    JoinKey.RECORD: "(source, record_no)",
    JoinKey.BLOCK: "(source, record_no, block_no)",
    JoinKey.TASK: "(coalesce(task_source, source), coalesce(task_record_offset, record_offset))",
}


def sql_condition(selection: Selection, table: str, stored: Callable[[str], str]) -> str | None:
    """Return the SQL condition for the selected rows of a dataset's table; None: all rows.

    stored  returns the FROM expression of a table of the dataset
    """
    if selection.holds(table) is False:
        return "false"
    parts = [
        *_like(["system"], selection.systems),
        *_of_qmgrs(selection, table),
        *_time_sql(selection),
        *([_types_sql(selection.types)] if selection.types and table == RECORD else []),
        *(_named_like(*each) for each in named_in(selection, table)),
        *(
            _any_of([_in_other(each, stored) for each in found])
            for found in lookups(selection, table)
        ),
    ]
    return " AND ".join(parts) or None


def _in_other(lookup: Lookup, stored: Callable[[str], str]) -> str:
    key = _KEY_SQL[lookup.key]
    asked = sql_condition(lookup.asked, lookup.table, stored)
    return f"{key} IN (SELECT {key} FROM {stored(lookup.table)} WHERE {asked})"


def _like(columns: Iterable[str], patterns: Iterable[str]) -> list[str]:
    expression = "|".join(map(regex, sorted(patterns))).replace("'", "''")
    found = [f"regexp_full_match({column}, '{expression}')" for column in columns]
    return [_any_of(found)] if expression else []


def _of_qmgrs(selection: Selection, table: str) -> list[str]:
    """Return the condition for queue managers. Rows about a whole system always meet it."""
    named = _like(["qmgr"], selection.qmgrs)
    if table == RECORD and named:
        return [f"({named[0]} OR type IN ({', '.join(map(str, WHOLE_RECORDS))}))"]
    return [] if table in TABLES and TABLES[table].shared else named


def _named_like(columns: Iterable[str], patterns: Iterable[str]) -> str:
    """Return the SQL condition for names in one of the columns; a blank field never matches."""
    return _any_of(
        [
            f"({each} <> '' AND {condition})"
            for each in columns
            for condition in _like([each], patterns)
        ]
    )


def _any_of(conditions: list[str]) -> str:
    return conditions[0] if len(conditions) == 1 else f"({' OR '.join(conditions)})"


def _time_sql(selection: Selection) -> Iterator[str]:
    if selection.time_column is None:
        return
    column = selection.time_column
    if selection.zone:
        column = shown_sql(selection.zone, column)
    if selection.start:
        yield f"{column} >= TIMESTAMP '{selection.start}'"
    if selection.end:
        yield f"{column} < TIMESTAMP '{selection.end}'"
    if selection.daily:
        opens, closes = selection.daily
        second = f"(epoch_us({column}::TIME) // 1000000)"
        yield f"({second} >= {opens} {'AND' if opens < closes else 'OR'} {second} < {closes})"


def _types_sql(found: Iterable[Types]) -> str:
    return f"({' OR '.join(map(_of_type, found))})"


def _of_type(each: Types) -> str:
    condition = "type BETWEEN {} AND {}".format(*each.types)
    subtypes = [f"subtype BETWEEN {low} AND {high}" for low, high in each.subtypes or ()]
    return f"{condition} AND ({' OR '.join(subtypes)})" if subtypes else condition


Texts: TypeAlias = tuple[list[str | None], Ints]
"""Distinct texts, and for each row the index of its text in them."""
KeysBySource: TypeAlias = Mapping[str, Ints]
"""Keys of rows by source: numbers of records, blocks or tasks, int64 (keys,)."""

_BLOCK_BITS = 16
"""Number of bits of a block number: a triplet counts its blocks in 16 bits."""


def record_mask(selection: Selection, buffer: Bytes, start: Ints, length: Ints) -> Bools | None:
    """Return which records can be selected according to their headers, bool (records,); None: all.

    start, length  int64 (records,): as in `Chunk`

    Headers contain only the SMF time, so `counted_mask` must also select by the exact time.
    """
    if selection.zone:
        selection = without_time(selection)
    if selection.of_headers.everything:
        return None
    records = _Records(Headers(buffer, start, length))
    chosen = _mask(selection, records, len(start), by_type=True)
    if selection.time_column:
        near = (0, 0) if selection.smf_time else (BEFORE_US, AFTER_US)
        chosen &= _in_time(selection, *records.headers.time, *near)
    return chosen


def counted_mask(selection: Selection, column: Callable[[str], tuple[Ints, Bools]]) -> Bools:
    """Return which records, or rows, are selected by their time, bool (records,).

    column  returns a key column, int64 (records,), and which of its values are known; times are
            microseconds since 1970, local time of the system
    """
    assert selection.time_column
    time, known = column(selection.time_column)
    if selection.zone:
        time, known = in_zone(selection.zone, time, known, *column(OFFSET))
    return _in_time(selection, time, known)


def row_mask(
    selection: Selection, table: str, batch: Any, keys: Callable[[Lookup], KeysBySource]
) -> Bools:
    """Return which rows of a table are selected, bool (rows,).

    batch  rows with the columns `needed_columns`
    keys   returns the keys of the rows that a lookup selects
    """
    rows = _Rows(batch, table)
    chosen = _mask(selection, rows, batch.num_rows, by_type=table == RECORD)
    if selection.time_column:
        chosen &= counted_mask(selection, rows.numbers)
    for columns, patterns in named_in(selection, table):
        hits = [_is_like(patterns, *rows.texts(column), blank=False) for column in columns]
        chosen &= np.logical_or.reduce(hits)
    for found in lookups(selection, table):
        chosen &= np.logical_or.reduce([_is_among(batch, each.key, keys(each)) for each in found])
    return chosen


def needed_columns(selection: Selection, table: str) -> tuple[str, ...]:
    """Return the columns that `row_mask` reads."""
    named = (column for columns, _ in named_in(selection, table) for column in columns)
    shared = (
        column for found in lookups(selection, table) for each in found for column in each.key.value
    )
    kind = ("type", "subtype") if table == RECORD else ()
    time = (selection.time_column,) if selection.time_column else ()
    offset = (OFFSET,) if time and selection.zone else ()
    return ("system", "qmgr", *time, *offset, "source", *kind, *named, *shared)


def keys_by_source(batches: Iterable[Any], key: JoinKey) -> KeysBySource:
    """Return the distinct keys of the rows of batches, by source."""
    found: dict[str, list[Ints]] = {}
    for batch in batches:
        for source, _, keys in _by_source(batch, key):
            found.setdefault(source, []).append(keys)
    return {source: np.unique(np.concatenate(parts)) for source, parts in found.items()}


class SelectedDamage(DamageLog):
    """Keeps the damage in records until it is known which records are selected."""

    def __init__(self, log: DamageLog) -> None:
        super().__init__()
        self._log = log
        self._waiting: list[Damage] = []

    def add(self, damage: Damage) -> None:
        self._waiting.append(damage)

    def pass_on(self, offsets: Ints) -> None:
        """Add the damage in records at these offsets to the log, and forget the other damage."""
        if self._waiting:
            chosen = frozenset(offsets.tolist())
            for each in self._waiting:
                if each.offset in chosen:
                    self._log.add(each)
        self._waiting = []


class _Facts(Protocol):
    """Properties of records or rows that criteria apply to."""

    def texts(self, column: str) -> Texts:
        """Return the texts of the column `system` or `qmgr`; None: the row has no such name."""

    def kinds(self) -> tuple[Ints, Ints]:
        """Return types and subtypes; subtype -1: none."""

    def shared(self) -> Bools:
        """Return which records or rows are about all queue managers of their system."""


class _Records:
    """Records in a buffer, by their SMF headers."""

    def __init__(self, headers: Headers) -> None:
        self.headers = headers

    def texts(self, column: str) -> Texts:
        """Return the texts in the headers; only MQ records have a queue manager."""
        field = QWST.field({"system": "sm115sid", "qmgr": "sm115SSI"}[column])
        assert isinstance(field.kind, Text)
        codes, each = distinct(self.headers.raw(field.name))
        words: list[str | None] = [field.kind.spell(raw.tobytes()) for raw in each]
        if column == "qmgr":
            codes = np.where(self.headers.is_mq, codes, len(words))
        return [*words, None], codes.astype(np.int64)

    def kinds(self) -> tuple[Ints, Ints]:
        return self.headers.type, self.headers.subtype

    def shared(self) -> Bools:
        return _is_shared(self.headers.type)


class _Rows:
    """The rows of a batch of a table."""

    def __init__(self, batch: Any, table: str) -> None:
        self._batch = batch
        self._table = table

    def texts(self, column: str) -> Texts:
        coded = self._batch.column(column).dictionary_encode()
        words: list[str | None] = coded.dictionary.to_pylist()
        return [*words, None], coded.indices.fill_null(len(words)).to_numpy()

    def numbers(self, column: str) -> tuple[Ints, Bools]:
        """Return a column of times or numbers as int64, and which values are not null."""
        found = self._batch.column(column)
        known: Bools = found.is_valid().to_numpy(zero_copy_only=False)
        return self._numbers(found.cast(pa.int64()), 0), known

    def kinds(self) -> tuple[Ints, Ints]:
        smf_type, subtype = (self._batch.column(name) for name in ("type", "subtype"))
        return self._numbers(smf_type, -1), self._numbers(subtype, -1)

    def shared(self) -> Bools:
        if self._table == RECORD:
            return _is_shared(self.kinds()[0])
        return np.full(self._batch.num_rows, TABLES[self._table].shared)

    def _numbers(self, column: Any, missing: int) -> Ints:
        found: Ints = column.cast(pa.int64()).fill_null(missing).to_numpy()
        return found


def _mask(selection: Selection, facts: _Facts, rows: int, *, by_type: bool) -> Bools:
    """Return which rows are selected by all criteria except time and names."""
    chosen = np.ones(rows, np.bool_)
    if selection.systems:
        chosen &= _is_like(selection.systems, *facts.texts("system"), blank=True)
    if selection.qmgrs:
        named = _is_like(selection.qmgrs, *facts.texts("qmgr"), blank=True)
        chosen &= named | facts.shared()
    if selection.types and by_type:
        chosen &= _of_types(selection, *facts.kinds())
    return chosen


def _is_shared(smf_type: Ints) -> Bools:
    found: Bools = np.isin(smf_type, list(WHOLE_RECORDS))
    return found


def _in_time(
    selection: Selection, time: Ints, known: Bools, before: int = 0, after: int = 0
) -> Bools:
    """Return which ranges from time - before to time + after (us) overlap the selected time."""
    chosen = known.copy()
    if selection.start:
        chosen &= time + after >= _microseconds(selection.start)
    if selection.end:
        chosen &= time - before < _microseconds(selection.end)
    if selection.daily:
        opens, closes = (seconds * US_PER_SECOND for seconds in selection.daily)
        open_for = (closes - opens) % US_PER_DAY or US_PER_DAY
        chosen &= (time + after - opens) % US_PER_DAY < open_for + after + before
    return chosen


def _of_types(selection: Selection, smf_type: Ints, subtype: Ints) -> Bools:
    kinds, which = np.unique(smf_type << 32 | (subtype + 1), return_inverse=True)
    has = [selection.has_type(kind >> 32, (kind & 0xFFFFFFFF) - 1) for kind in kinds.tolist()]
    chosen: Bools = np.array(has, np.bool_)[which]
    return chosen


def _is_like(
    patterns: Iterable[str], words: list[str | None], codes: Ints, *, blank: bool
) -> Bools:
    """Return which rows have a text that matches a pattern; None never matches.

    words  distinct texts
    codes  int64 (rows,): index of the text of each row
    blank  whether an empty text can match
    """
    found = like(patterns)
    hits = [
        word is not None and (blank or word != "") and bool(found.fullmatch(word)) for word in words
    ]
    return np.array(hits, np.bool_)[codes]


def _is_among(batch: Any, key: JoinKey, wanted: KeysBySource) -> Bools:
    chosen = np.zeros(batch.num_rows, np.bool_)
    for source, rows, keys in _by_source(batch, key):
        if source in wanted:
            chosen[rows] = np.isin(keys, wanted[source])
    return chosen


def _by_source(batch: Any, key: JoinKey) -> Iterator[tuple[str, Ints, Ints]]:
    if key is JoinKey.TASK:
        yield from _by_source(_of_tasks(batch), JoinKey.RECORD)
        return
    words, codes = _Rows(batch, RECORD).texts("source")
    keys: Ints = batch.column("record_no").to_numpy()
    if key is JoinKey.BLOCK:
        keys = keys << _BLOCK_BITS | batch.column("block_no").to_numpy()
    for code, source in enumerate(words):
        rows = np.flatnonzero(codes == code)
        if source is not None and rows.size:
            yield source, rows, keys[rows]


def _of_tasks(batch: Any) -> Any:
    """Return a batch in which the key columns of records contain the keys of tasks."""
    from pyarrow.compute import coalesce  # slow to load, and rarely used

    source, own = (batch.column(each).cast(pa.string()) for each in ("task_source", "source"))
    offset, place = (batch.column(each) for each in ("task_record_offset", "record_offset"))
    keys = [coalesce(source, own), coalesce(offset, place)]
    return pa.RecordBatch.from_arrays(keys, ["source", "record_no"])


def _microseconds(moment: dt.datetime) -> int:
    return (moment - UNIX_EPOCH) // dt.timedelta(microseconds=1)
