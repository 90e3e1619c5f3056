"""Which records are asked for, told by their SMF headers alone: system, queue manager, time, type.

A selection is applied in three places, with the same result: to the headers of a chunk before any
block is decoded, to the rows of a dataset, and as an SQL condition where DuckDB reads the dataset.
Times are the local times of the z/OS system, as SMF wrote them.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
import pyarrow as pa

from smfparse.arrays import Bools, Bytes, Ints, distinct
from smfparse.columns import DAMAGE, RECORD
from smfparse.criteria import DAY, Hours, Types, names, regex, span, types
from smfparse.errors import Damage, DamageLog
from smfparse.fields import Text
from smfparse.headers import Headers
from smfparse.schemas import QWST, REGISTRY, TABLES

Texts: TypeAlias = tuple[list[str | None], Ints]
"""Distinct texts, and for each row the index of its own."""

_US = 1_000_000
_DAY_US = DAY * _US
_UNIX_EPOCH = dt.datetime(1970, 1, 1)
_PLACE = ("source", "record_no")
"""Key columns that tell the record of a row."""


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
    """

    qmgrs: frozenset[str] = frozenset()
    systems: frozenset[str] = frozenset()
    start: dt.datetime | None = None
    end: dt.datetime | None = None
    daily: Hours | None = None
    types: tuple[Types, ...] = ()

    @classmethod
    def of(
        cls,
        *,
        qmgr: Iterable[str] = (),
        system: Iterable[str] = (),
        since: Iterable[str] = (),
        until: Iterable[str] = (),
        type: Iterable[str] = (),  # noqa: A002 - as the option is called
    ) -> Selection:
        """Return the selection that the texts of the command line's options ask for.

        Raises RequestError where one cannot be read.
        """
        (start, end), daily = span(since, until)
        return cls(names(qmgr), names(system), start, end, daily, types(type))

    @property
    def everything(self) -> bool:
        """Whether nothing is asked: every record is selected."""
        return self == Selection()

    def __str__(self) -> str:
        """Return what is asked; '' where nothing is. Times are the first and last seconds."""
        parts = [
            ("qmgr", ",".join(sorted(self.qmgrs))),
            ("system", ",".join(sorted(self.systems))),
            ("from", f"{self.start}" if self.start else ""),
            ("to", f"{self.end - dt.timedelta(seconds=1)}" if self.end else ""),
            ("daily", _hours(self.daily) if self.daily else ""),
            ("type", ",".join(map(str, self.types))),
        ]
        return "; ".join(f"{name} {text}" for name, text in parts if text)

    def on(self, table: str) -> Selection:
        """Return what is asked of the rows of a table: of `damage` there is nothing to ask."""
        return EVERYTHING if table == DAMAGE else self

    def records(self, buffer: Bytes, start: Ints, length: Ints) -> Bools | None:
        """Return which records are selected, bool (records,); None: all.

        start, length  int64 (records,): as in `Chunk`
        """
        if self.everything:
            return None
        return self._chosen(_Records(Headers(buffer, start, length)), len(start), by_type=True)

    def rows(self, table: str, batch: Any, places: Mapping[str, Ints] | None) -> Bools:
        """Return which rows of a table are selected, bool (rows,).

        batch   with the columns `needs`
        places  for a table of which `holds` is None: source to the numbers of the records of the
                types asked for
        """
        chosen = self._chosen(_Columns(batch), batch.num_rows, by_type=table == RECORD)
        if table != RECORD and self.holds(table) is not True:
            chosen &= _among(batch, places or {})
        return chosen

    def needs(self, table: str) -> tuple[str, ...]:
        """Return the columns that `rows` looks at."""
        keys = ("system", "qmgr", "smf_time", *_PLACE)
        return (*keys, "type", "subtype") if table == RECORD else keys

    def holds(self, table: str) -> bool | None:
        """Whether all (True) or none (False) of a table's records are of the types; None: some."""
        if not self.types:
            return True
        if table == RECORD:
            return None
        found = {self._has(*record) for record in _records_of(table)}
        return found.pop() if len(found) == 1 else None

    def condition(self, table: str, records: str) -> str | None:
        """Return the SQL condition for the rows of a table of a dataset; None: all.

        records  the dataset's table `record`, as one writes it behind FROM
        """
        parts = [
            *_like("system", self.systems),
            *_like("qmgr", self.qmgrs),
            *_between(self.start, self.end),
            *([_at_hours(self.daily)] if self.daily else []),
            *self._type_condition(table, records),
        ]
        return " AND ".join(parts) or None

    def _type_condition(self, table: str, records: str) -> list[str]:
        held = self.holds(table)
        if held is not None:
            return [] if held else ["false"]
        condition = " OR ".join(map(_of_type, self.types))
        if table == RECORD:
            return [f"({condition})"]
        place = f"({', '.join(_PLACE)})"
        return [f"{place} IN (SELECT {place} FROM {records} WHERE {condition})"]

    def _has(self, smf_type: int, subtype: int) -> bool:
        return any(each.has(smf_type, subtype) for each in self.types)

    def _chosen(self, facts: _Facts, rows: int, *, by_type: bool) -> Bools:
        chosen = np.ones(rows, np.bool_)
        for column, patterns in (("system", self.systems), ("qmgr", self.qmgrs)):
            if patterns:
                chosen &= _named(patterns, *facts.texts(column))
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
        return [*words, None], codes

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


def _named(patterns: Iterable[str], words: list[str | None], codes: Ints) -> Bools:
    """Return where the text is like one of the patterns; no text is like none."""
    like = re.compile("|".join(map(regex, patterns)))
    hits = [word is not None and like.fullmatch(word) is not None for word in words]
    return np.array(hits, np.bool_)[codes]


def _among(batch: Any, places: Mapping[str, Ints]) -> Bools:
    """Return which rows are of the records `places`: source to numbers."""
    words, codes = _Columns(batch).texts("source")
    number = batch.column("record_no").to_numpy()
    chosen = np.zeros(batch.num_rows, np.bool_)
    for code, source in enumerate(words):
        if source is not None and source in places:
            chosen |= (codes == code) & np.isin(number, places[source])
    return chosen


def numbers(batches: Iterable[Any]) -> dict[str, Ints]:
    """Return the record numbers by source of batches of the table `record`: `places` of `rows`."""
    found: dict[str, list[Ints]] = {}
    for batch in batches:
        words, codes = _Columns(batch).texts("source")
        number = batch.column("record_no").to_numpy()
        for code, source in enumerate(words):
            if source is not None:
                found.setdefault(source, []).append(number[codes == code])
    return {source: np.concatenate(parts) for source, parts in found.items()}


def _records_of(table: str) -> Iterator[tuple[int, int]]:
    """Yield the types and subtypes of the records that have the block of a table."""
    block = TABLES[table].block
    for record, triplets in REGISTRY.items():
        if any(each is block for each in triplets.values()):
            yield record


def _microseconds(moment: dt.datetime) -> int:
    return (moment - _UNIX_EPOCH) // dt.timedelta(microseconds=1)


def _clock(seconds: int) -> str:
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def _hours(daily: Hours) -> str:
    opens, closes = daily
    return f"{_clock(opens)} to {_clock((closes - 1) % DAY)}"


def _like(column: str, patterns: Iterable[str]) -> list[str]:
    expression = "|".join(map(regex, sorted(patterns))).replace("'", "''")
    return [f"regexp_full_match({column}, '{expression}')"] if expression else []


def _between(start: dt.datetime | None, end: dt.datetime | None) -> Iterator[str]:
    if start:
        yield f"smf_time >= TIMESTAMP '{start}'"
    if end:
        yield f"smf_time < TIMESTAMP '{end}'"


def _at_hours(daily: Hours) -> str:
    opens, closes = daily
    second = "(epoch_us(smf_time::TIME) // 1000000)"
    return f"({second} >= {opens} {'AND' if opens < closes else 'OR'} {second} < {closes})"


def _of_type(each: Types) -> str:
    condition = "type BETWEEN {} AND {}".format(*each.types)
    subtypes = [f"subtype BETWEEN {low} AND {high}" for low, high in each.subtypes or ()]
    return f"{condition} AND ({' OR '.join(subtypes)})" if subtypes else condition
