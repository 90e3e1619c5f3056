"""The selected records: by their SMF headers, their time, and by names in their blocks.

Headers contain system, queue manager and type. Intervals define when a record counts (`counting`).
Blocks contain job, transaction, queue and channel. A selection can be applied in three ways, with
the same result: to the records of a chunk before they are decoded, to the rows of a dataset
(`rows`), or as an SQL condition in a query of DuckDB over a dataset (`conditions`). Times are local
times of the system, or of a zone (`walls`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

from smfparse.selecting.counting import COUNTED_AT
from smfparse.selecting.criteria import (
    DAY,
    Hours,
    Types,
    Value,
    parse_patterns,
    parse_span,
    parse_types,
    texts,
)
from smfparse.selecting.subjects import NAMED, JoinKey, Naming, naming, records_of, tables_about
from smfparse.selecting.zones import Zone
from smfparse.tables.dictionary import DAMAGE, RECORD

Several: TypeAlias = Value | Iterable[Value]
BY_NAME = {each: f"{each}s" for each in NAMED}
"""Field of a Selection for each option that selects by names in blocks."""


class Selection(NamedTuple):
    """The criteria for records; a criterion that is empty or None selects all.

    A record is selected if it meets the criteria for its header and its time. A row of a selected
    record is selected if it meets the criteria for names.

    qmgrs         patterns for the queue manager: `*` any characters, `?` one character; a record
                  about a whole system (lost data) belongs to all its queue managers
    systems       patterns for the SMF system id
    start         the record counts at this local time or later; a whole second
    end           the record counts before this local time; a whole second
    daily         selected seconds of each day; see `Hours`
    smf_time      whether `start`, `end` and `daily` apply to the SMF time, as in IFASMFDP
    types         types and subtypes of records
    jobs          patterns for the job of a row
    transactions  patterns for the CICS transaction or IMS program (PSB) of a row
    queues        patterns for the queue of a row
    channels      patterns for the channel of a row
    zone          time zone of `start`, `end` and `daily`, and of local times in rows; None: local
                  time of each system
    """

    qmgrs: frozenset[str] = frozenset()
    systems: frozenset[str] = frozenset()
    start: dt.datetime | None = None
    end: dt.datetime | None = None
    daily: Hours | None = None
    smf_time: bool = False
    types: tuple[Types, ...] = ()
    jobs: frozenset[str] = frozenset()
    transactions: frozenset[str] = frozenset()
    queues: frozenset[str] = frozenset()
    channels: frozenset[str] = frozenset()
    zone: Zone | None = None

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
        transaction: Several = (),
        queue: Several = (),
        channel: Several = (),
        smf_time: bool = False,
    ) -> Selection:
        """Return the selection for values in the form of the options of the command line.

        Each value is one text or several; types may be numbers, and times may be `datetime`
        objects. A record counts at the middle of its interval; a record of more than an hour half
        an hour before the interval ends; a record without an interval at its SMF time. With
        `smf_time` all records count at their SMF time, as with IFASMFDP.

        Raises RequestError for a text that cannot be read.
        """
        (start, end), daily = parse_span(texts(since), texts(until))
        return cls(
            parse_patterns("qmgr", texts(qmgr)),
            parse_patterns("system", texts(system)),
            start,
            end,
            daily,
            smf_time and bool(start or end or daily),
            parse_types(texts(type)),
            parse_patterns("job", texts(job)),
            parse_patterns("transaction", texts(transaction)),
            parse_patterns("queue", texts(queue)),
            parse_patterns("channel", texts(channel)),
        )

    @property
    def everything(self) -> bool:
        """Whether every record is selected."""
        return self._replace(zone=None) == Selection()

    @property
    def time_column(self) -> str | None:
        """The key column of the selected time; None: no time is selected."""
        if not (self.start or self.end or self.daily):
            return None
        return "smf_time" if self.smf_time else COUNTED_AT

    @property
    def by_name(self) -> dict[str, frozenset[str]]:
        """The patterns for names in blocks, by option (job, transaction, queue, channel)."""
        every = {option: getattr(self, field) for option, field in BY_NAME.items()}
        return {option: patterns for option, patterns in every.items() if patterns}

    @property
    def of_headers(self) -> Selection:
        """The criteria for the SMF headers alone."""
        return without_names(self, BY_NAME)

    def on(self, table: str) -> Selection:
        """Return the criteria for the rows of a table: all rows of `damage` are selected."""
        return ALL_RECORDS if table == DAMAGE else self

    def covers(self, table: str) -> bool:
        """Whether the rows of a table can contain all selected names."""
        return table == RECORD or all(naming(option, table) for option in self.by_name)

    def unknown_to(self, tables: Iterable[str]) -> tuple[str, ...]:
        """Return the options of `by_name` whose names no row of these tables can contain."""
        tables = tuple(tables)
        return tuple(
            option
            for option in self.by_name
            if not any(table == RECORD or naming(option, table) for table in tables)
        )

    def namings(self, tables: Iterable[str]) -> Iterator[tuple[str, Naming]]:
        """Yield the tables whose rows are selected for these tables, and the places of the names.

        For the table `record`, these are all tables that can contain the selected names.
        """
        every = tables_about(frozenset(self.by_name))
        for table in tables:
            for each in every if table == RECORD else (table,):
                found = (naming(option, each) for option in self.by_name)
                yield from ((each, where) for where in found if where is not None)

    def by_task(self, tables: Iterable[str]) -> bool:
        """Whether rows of these tables are selected by a name in any record of their task."""
        return any(where.key is JoinKey.TASK for _, where in self.namings(tables))

    def has_type(self, smf_type: int, subtype: int) -> bool:
        """Whether a record of this type and subtype is among `types`."""
        return any(each.has(smf_type, subtype) for each in self.types)

    def holds(self, table: str) -> bool | None:
        """Whether all (True), none (False) or some (None) of a table's records have selected types.

        The result is False for a table that cannot contain the selected names.
        """
        if not self.covers(table):
            return False
        if not self.types:
            return True
        if table == RECORD:
            return None
        found = {self.has_type(*record) for record in records_of(table)}
        return found.pop() if len(found) == 1 else None

    def __str__(self) -> str:
        """Return the criteria as text; '': all records. Times are the first and last seconds."""
        parts = [
            ("qmgr", ",".join(sorted(self.qmgrs))),
            ("system", ",".join(sorted(self.systems))),
            *_times(self),
            ("type", ",".join(map(str, self.types))),
            *((option, ",".join(sorted(patterns))) for option, patterns in self.by_name.items()),
        ]
        return "; ".join(f"{name} {text}" for name, text in parts if text)


ALL_RECORDS = Selection()


def time_is_derived(selection: Selection) -> bool:
    """Whether the selected time must be derived: a record counts at it, or it is in a zone."""
    if selection.time_column is None:
        return False
    return not selection.smf_time or selection.zone is not None


def without_time(selection: Selection) -> Selection:
    """Return the same selection for all times."""
    return selection._replace(start=None, end=None, daily=None, smf_time=False)


def without_names(selection: Selection, options: Iterable[str]) -> Selection:
    """Return the selection without the criteria of these options: job, queue, ..."""
    cleared: dict[str, Any] = {BY_NAME[option]: frozenset() for option in options}
    return selection._replace(**cleared)


def queue_criteria(text: str | None) -> list[str]:
    """Return the criteria for queues in the text of a selection."""
    return [part for part in (text or "").split("; ") if part.startswith("queue ")]


def _times(selection: Selection) -> Iterator[tuple[str, str]]:
    """Yield labels and texts of times; "counted" is added for times at which records count."""
    counted = "" if selection.smf_time else "counted "
    if selection.start:
        yield f"{counted}from", f"{selection.start}"
    if selection.end:
        yield f"{counted}to", f"{selection.end - dt.timedelta(seconds=1)}"
    if selection.daily:
        yield f"{counted}daily", _hours(selection.daily)
    if selection.zone and selection.time_column:
        yield "tz", selection.zone.name


def _clock(seconds: int) -> str:
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def _hours(daily: Hours) -> str:
    opens, closes = daily
    return f"{_clock(opens)} to {_clock((closes - 1) % DAY)}"
