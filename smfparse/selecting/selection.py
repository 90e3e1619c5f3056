"""Which rows are asked for: by the SMF headers of their records, and by names in their blocks.

Headers tell system, queue manager, time and type; blocks tell job, queue and channel. A selection
is applied in three places, with the same result: to the headers and names of a chunk before
anything else is decoded, to the rows of a dataset, and as an SQL condition where DuckDB reads the
dataset. Times are the local times of the z/OS system, as SMF wrote them.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from smfparse.errors import Damage, DamageLog
from smfparse.layout.kinds import Text
from smfparse.reading import Headers
from smfparse.schemas import QWST
from smfparse.selecting.criteria import DAY, Hours, Types, Value, names, regex, span, texts, types
from smfparse.selecting.subjects import NAMED, Key, Naming, naming, records_of, telling
from smfparse.tables.dictionary import DAMAGE, RECORD
from smfparse.vectors import Bools, Bytes, Ints, distinct

Texts: TypeAlias = tuple[list[str | None], Ints]
"""Distinct texts, and for each row the index of its own."""

_US = 1_000_000
_DAY_US = DAY * _US
_UNIX_EPOCH = dt.datetime(1970, 1, 1)
_BLOCK_BITS = 16
"""Bits of a block's number: a triplet counts its blocks by as many."""
Several: TypeAlias = Value | Iterable[Value]
Places: TypeAlias = Mapping[str, Ints]
"""Keys of rows, as `keys_of` makes them, by source."""


class _Facts(Protocol):
    """What is asked of several records or rows."""

    def texts(self, column: str) -> Texts:
        """Return the column `system` or `qmgr`; None where there is none."""

    def times(self) -> tuple[Ints, Bools]:
        """Return when SMF took the record in microseconds since 1970, and where that is known."""

    def kinds(self) -> tuple[Ints, Ints]:
        """Return types and subtypes; subtype -1: none."""


@dataclass(frozen=True)
class Selection:
    """The records that are asked for; of each condition, what is empty or None asks nothing.

    qmgrs    queue manager is like one of these: `*` any characters, `?` one
    systems  and SMF system id is like one of these
    start    and SMF took the record at this local time or later, a whole second
    end      and before this one, a whole second
    daily    and at a second of the day from the first to before the second; midnight is between
             them where the second is not the greater one
    types    and it is of one of these types and subtypes
    jobs     and of it the rows that are about a job like one of these
    queues   and about a queue like one of these
    channels and about a channel like one of these
    """

    qmgrs: frozenset[str] = frozenset()
    systems: frozenset[str] = frozenset()
    start: dt.datetime | None = None
    end: dt.datetime | None = None
    daily: Hours | None = None
    types: tuple[Types, ...] = ()
    jobs: frozenset[str] = frozenset()
    queues: frozenset[str] = frozenset()
    channels: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls,
        *,
        qmgr: Several = (),
        system: Several = (),
        since: Several = (),
        until: Several = (),
        type: Several = (),  # noqa: A002 - as the option is called
        job: Several = (),
        queue: Several = (),
        channel: Several = (),
    ) -> Selection:
        """Return the selection that the texts of the command line's options ask for.

        Each is one text or several; types may be numbers, and times those of `datetime`.

        Raises RequestError where one cannot be read.
        """
        (start, end), daily = span(texts(since), texts(until))
        return cls(
            names("qmgr", texts(qmgr)),
            names("system", texts(system)),
            start,
            end,
            daily,
            types(texts(type)),
            names("job", texts(job)),
            names("queue", texts(queue)),
            names("channel", texts(channel)),
        )

    @property
    def everything(self) -> bool:
        """Whether nothing is asked: every record is selected."""
        return self == Selection()

    @property
    def by_name(self) -> dict[str, frozenset[str]]:
        """What is asked for by name - job, queue, channel - and the patterns of it."""
        every = {"job": self.jobs, "queue": self.queues, "channel": self.channels}
        return {option: patterns for option, patterns in every.items() if patterns}

    def unknown_to(self, tables: Iterable[str]) -> tuple[str, ...]:
        """Return what of `by_name` is asked for that the rows of none of these tables are about."""
        tables = tuple(tables)
        return tuple(
            option
            for option in self.by_name
            if not any(table == RECORD or naming(option, table) for table in tables)
        )

    def tells(self, table: str) -> bool:
        """Whether the rows of a table can be about all the names that are asked for."""
        return table == RECORD or all(naming(option, table) for option in self.by_name)

    def namings(self, tables: Iterable[str]) -> Iterator[tuple[str, Naming]]:
        """Yield tables that these tables' rows are chosen by, and where names are told for them.

        The rows of `record` are chosen by those of every table that can be about the names.
        """
        every = telling(frozenset(self.by_name))
        for table in tables:
            for each in every if table == RECORD else (table,):
                found = (naming(option, each) for option in self.by_name)
                yield from ((each, where) for where in found if where is not None)

    def by_task(self, tables: Iterable[str]) -> bool:
        """Whether rows of these tables are chosen by what is in any record of their task."""
        return any(where.key is Key.TASK for _, where in self.namings(tables))

    def __str__(self) -> str:
        """Return what is asked; '' where nothing is. Times are the first and last seconds."""
        parts = [
            ("qmgr", ",".join(sorted(self.qmgrs))),
            ("system", ",".join(sorted(self.systems))),
            ("from", f"{self.start}" if self.start else ""),
            ("to", f"{self.end - dt.timedelta(seconds=1)}" if self.end else ""),
            ("daily", _hours(self.daily) if self.daily else ""),
            ("type", ",".join(map(str, self.types))),
            *((option, ",".join(sorted(patterns))) for option, patterns in self.by_name.items()),
        ]
        return "; ".join(f"{name} {text}" for name, text in parts if text)

    def on(self, table: str) -> Selection:
        """Return what is asked of the rows of a table: of `damage` there is nothing to ask."""
        return EVERYTHING if table == DAMAGE else self

    def records(self, buffer: Bytes, start: Ints, length: Ints) -> Bools | None:
        """Return which records are selected by their headers, bool (records,); None: all.

        start, length  int64 (records,): as in `Chunk`
        """
        if self._of_headers.everything:
            return None
        return self._chosen(_Records(Headers(buffer, start, length)), len(start), by_type=True)

    def rows(self, table: str, batch: Any, places: Callable[[Lookup], Places]) -> Bools:
        """Return which rows of a table are selected, bool (rows,).

        batch   with the columns `needs`
        places  finds the keys of the rows of another table
        """
        facts = _Columns(batch)
        chosen = self._chosen(facts, batch.num_rows, by_type=table == RECORD)
        for columns, patterns in self._named_in(table):
            hits = [_named(patterns, *facts.texts(column), blank=False) for column in columns]
            chosen &= np.logical_or.reduce(hits)
        for lookups in self._lookups(table):
            chosen &= np.logical_or.reduce(
                [_among(batch, each.key, places(each)) for each in lookups]
            )
        return chosen

    def needs(self, table: str) -> tuple[str, ...]:
        """Return the columns that `rows` looks at."""
        named = (column for columns, _ in self._named_in(table) for column in columns)
        shared = (
            column
            for lookups in self._lookups(table)
            for each in lookups
            for column in each.key.value
        )
        kind = ("type", "subtype") if table == RECORD else ()
        return ("system", "qmgr", "smf_time", "source", *kind, *named, *shared)

    def holds(self, table: str) -> bool | None:
        """Whether all (True) or none (False) of a table's records are of the types; None: some.

        False for a table that cannot be about the names that are asked for.
        """
        if not self.tells(table):
            return False
        if not self.types:
            return True
        if table == RECORD:
            return None
        found = {self._has(*record) for record in records_of(table)}
        return found.pop() if len(found) == 1 else None

    def condition(self, table: str, stored: Callable[[str], str]) -> str | None:
        """Return the SQL condition for the rows of a table of a dataset; None: all.

        stored  gives a table of the dataset as one writes it behind FROM
        """
        if self.holds(table) is False:
            return "false"
        parts = [
            *_like(["system"], self.systems),
            *_like(["qmgr"], self.qmgrs),
            *_between(self.start, self.end),
            *([_at_hours(self.daily)] if self.daily else []),
            *([_of_types(self.types)] if self.types and table == RECORD else []),
            *(_named_like(*each) for each in self._named_in(table)),
            *(
                _any_of([each.condition(stored) for each in lookups])
                for lookups in self._lookups(table)
            ),
        ]
        return " AND ".join(parts) or None

    @property
    def _of_headers(self) -> Selection:
        """What is asked of the headers."""
        return replace(self, jobs=frozenset(), queues=frozenset(), channels=frozenset())

    def _named_in(self, table: str) -> Iterator[tuple[tuple[str, ...], frozenset[str]]]:
        """Yield columns of a table that name what is asked for, and the patterns for them."""
        for option, patterns in self.by_name.items():
            if table in NAMED[option]:
                yield NAMED[option][table], patterns

    def _lookups(self, table: str) -> Iterator[list[Lookup]]:
        """Yield other tables that the rows of a table are chosen by: by one of each list."""
        if table == RECORD:
            if self.by_name:
                asked = _asking(self.by_name)
                tables = telling(frozenset(self.by_name))
                yield [Lookup(each, Key.RECORD, asked) for each in tables]
            return
        if self.holds(table) is None:
            yield [Lookup(RECORD, Key.RECORD, Selection(types=self.types))]
        for option, patterns in self.by_name.items():
            found = naming(option, table)
            if found is not None and found.table != table:
                yield [Lookup(found.table, found.key, _asking({option: patterns}))]

    def _has(self, smf_type: int, subtype: int) -> bool:
        return any(each.has(smf_type, subtype) for each in self.types)

    def _chosen(self, facts: _Facts, rows: int, *, by_type: bool) -> Bools:
        chosen = np.ones(rows, np.bool_)
        for column, patterns in (("system", self.systems), ("qmgr", self.qmgrs)):
            if patterns:
                chosen &= _named(patterns, *facts.texts(column), blank=True)
        if self.start or self.end or self.daily:
            chosen &= self._timed(*facts.times())
        if self.types and by_type:
            chosen &= self._typed(*facts.kinds())
        return chosen

    def _timed(self, time: Ints, known: Bools) -> Bools:
        chosen = known.copy()
        if self.start:
            chosen &= time >= _microseconds(self.start)
        if self.end:
            chosen &= time < _microseconds(self.end)
        if self.daily:
            opens, closes = (seconds * _US for seconds in self.daily)
            late: Bools = time % _DAY_US >= opens
            early: Bools = time % _DAY_US < closes
            chosen &= late & early if opens < closes else late | early
        return chosen

    def _typed(self, smf_type: Ints, subtype: Ints) -> Bools:
        kinds, which = np.unique(smf_type << 32 | (subtype + 1), return_inverse=True)
        has = [self._has(kind >> 32, (kind & 0xFFFFFFFF) - 1) for kind in kinds.tolist()]
        chosen: Bools = np.array(has, np.bool_)[which]
        return chosen


EVERYTHING = Selection()


def _asking(by_name: Mapping[str, frozenset[str]]) -> Selection:
    jobs, queues, channels = (by_name.get(each, frozenset()) for each in NAMED)
    return Selection(jobs=jobs, queues=queues, channels=channels)


@dataclass(frozen=True)
class Lookup:
    """Rows of a table that share a key with rows of another that are asked for.

    table  the other table
    asked  what is asked of its rows
    """

    table: str
    key: Key
    asked: Selection

    def condition(self, stored: Callable[[str], str]) -> str:
        """Return the SQL condition for such rows; `stored` is as in `Selection.condition`."""
        other = stored(self.table)
        key = _KEY_SQL[self.key]
        return (
            f"{key} IN (SELECT {key} FROM {other} WHERE {self.asked.condition(self.table, stored)})"
        )


_KEY_SQL = {
    Key.RECORD: "(source, record_no)",
    Key.BLOCK: "(source, record_no, block_no)",
    Key.TASK: "(source, coalesce(task_record_no, record_no))",
}


class SelectedDamage(DamageLog):
    """Passes on to `log` what could not be used of the records with the numbers `record_no`."""

    def __init__(self, log: DamageLog, record_no: Ints) -> None:
        super().__init__()
        self._log = log
        self._chosen = frozenset(record_no.tolist())

    def add(self, damage: Damage) -> None:
        if damage.record_no in self._chosen:
            self._log.add(damage)


class _Records:
    """Records in a buffer, by their SMF headers."""

    def __init__(self, headers: Headers) -> None:
        self._headers = headers

    def texts(self, column: str) -> Texts:
        """Return the texts of the headers; only records of MQ have a queue manager."""
        field = QWST.field({"system": "sm115sid", "qmgr": "sm115SSI"}[column])
        assert isinstance(field.kind, Text)
        codes, each = distinct(self._headers.raw(field.name))
        words: list[str | None] = [field.kind.spell(raw.tobytes()) for raw in each]
        if column == "qmgr":
            codes = np.where(self._headers.is_mq, codes, len(words))
        return [*words, None], codes.astype(np.int64)

    def times(self) -> tuple[Ints, Bools]:
        return self._headers.time

    def kinds(self) -> tuple[Ints, Ints]:
        return self._headers.type, self._headers.subtype


class _Columns:
    """The rows of a batch of a table."""

    def __init__(self, batch: Any) -> None:
        self._batch = batch

    def texts(self, column: str) -> Texts:
        coded = self._batch.column(column).dictionary_encode()
        words: list[str | None] = coded.dictionary.to_pylist()
        return [*words, None], coded.indices.fill_null(len(words)).to_numpy()

    def times(self) -> tuple[Ints, Bools]:
        time = self._batch.column("smf_time")
        return self._numbers(time.cast(pa.int64()), 0), time.is_valid().to_numpy(
            zero_copy_only=False
        )

    def kinds(self) -> tuple[Ints, Ints]:
        smf_type, subtype = (self._batch.column(name) for name in ("type", "subtype"))
        return self._numbers(smf_type, -1), self._numbers(subtype, -1)

    def _numbers(self, column: Any, missing: int) -> Ints:
        found: Ints = column.cast(pa.int64()).fill_null(missing).to_numpy()
        return found


def like(patterns: Iterable[str]) -> re.Pattern[str]:
    """Return what matches, as a whole, a name that is like one of the patterns."""
    return re.compile("|".join(map(regex, patterns)))


def _named(patterns: Iterable[str], words: list[str | None], codes: Ints, *, blank: bool) -> Bools:
    """Return where the text is like one of the patterns; no text is like none.

    blank  whether an empty text is a name
    """
    found = like(patterns)
    hits = [
        word is not None and (blank or word != "") and bool(found.fullmatch(word)) for word in words
    ]
    return np.array(hits, np.bool_)[codes]


def _among(batch: Any, key: Key, places: Places) -> Bools:
    """Return which rows have one of the keys `places`."""
    chosen = np.zeros(batch.num_rows, np.bool_)
    for source, rows, keys in _by_source(batch, key):
        if source in places:
            chosen[rows] = np.isin(keys, places[source])
    return chosen


def keys_of(batches: Iterable[Any], key: Key) -> dict[str, Ints]:
    """Return the keys of the rows of batches, by source: int64 (rows,)."""
    found: dict[str, list[Ints]] = {}
    for batch in batches:
        for source, _, keys in _by_source(batch, key):
            found.setdefault(source, []).append(keys)
    return {source: np.unique(np.concatenate(parts)) for source, parts in found.items()}


def _by_source(batch: Any, key: Key) -> Iterator[tuple[str, Ints, Ints]]:
    """Yield each source of a batch, its rows, and their keys: numbers of record, block or task."""
    words, codes = _Columns(batch).texts("source")
    number = batch.column("record_no")
    if key is Key.TASK:
        number = pc.coalesce(batch.column("task_record_no"), number)
    keys: Ints = number.to_numpy()
    if key is Key.BLOCK:
        keys = keys << _BLOCK_BITS | batch.column("block_no").to_numpy()
    for code, source in enumerate(words):
        rows = np.flatnonzero(codes == code)
        if source is not None and rows.size:
            yield source, rows, keys[rows]


def _microseconds(moment: dt.datetime) -> int:
    return (moment - _UNIX_EPOCH) // dt.timedelta(microseconds=1)


def _clock(seconds: int) -> str:
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def _hours(daily: Hours) -> str:
    opens, closes = daily
    return f"{_clock(opens)} to {_clock((closes - 1) % DAY)}"


def _like(columns: Iterable[str], patterns: Iterable[str]) -> list[str]:
    expression = "|".join(map(regex, sorted(patterns))).replace("'", "''")
    found = [f"regexp_full_match({column}, '{expression}')" for column in columns]
    return [_any_of(found)] if expression else []


def _named_like(columns: Iterable[str], patterns: Iterable[str]) -> str:
    """Return the SQL condition for names in one of the columns; what is blank is no name."""
    return _any_of(
        [
            f"({each} <> '' AND {condition})"
            for each in columns
            for condition in _like([each], patterns)
        ]
    )


def _any_of(conditions: list[str]) -> str:
    return conditions[0] if len(conditions) == 1 else f"({' OR '.join(conditions)})"


def _between(start: dt.datetime | None, end: dt.datetime | None) -> Iterator[str]:
    if start:
        yield f"smf_time >= TIMESTAMP '{start}'"
    if end:
        yield f"smf_time < TIMESTAMP '{end}'"


def _at_hours(daily: Hours) -> str:
    opens, closes = daily
    second = "(epoch_us(smf_time::TIME) // 1000000)"
    return f"({second} >= {opens} {'AND' if opens < closes else 'OR'} {second} < {closes})"


def _of_types(found: Iterable[Types]) -> str:
    return f"({' OR '.join(map(_of_type, found))})"


def _of_type(each: Types) -> str:
    condition = "type BETWEEN {} AND {}".format(*each.types)
    subtypes = [f"subtype BETWEEN {low} AND {high}" for low, high in each.subtypes or ()]
    return f"{condition} AND ({' OR '.join(subtypes)})" if subtypes else condition
