"""Selection of records by their SMF headers, by their time, and by names in their blocks.

Headers contain system, queue manager and type. Intervals define when a record counts
(`zones`). Blocks contain job, transaction, queue and channel: a row is about the names in
its block and in its record. A row about a task is also about the queues in all queue blocks of that
task. A 116/2 record has its own WTID with job and channel.

A selection can be applied in three ways, with the same result: to the records of a chunk before
they are decoded (`matching`), to the rows of a dataset, or as an SQL condition in a query of DuckDB
over a dataset (`selected_rows`). Times are local times of the system, or of a zone (`zones`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from functools import cache
from typing import Any, NamedTuple, TypeAlias

from smfparse.decoding.criteria import (
    DAY,
    Hours,
    Types,
    Value,
    parse_patterns,
    parse_span,
    parse_types,
    texts,
)
from smfparse.decoding.dictionary import DAMAGE, RECORD, TABLES, decoded_tables
from smfparse.decoding.zones import COUNTED_AT, Zone
from smfparse.schemas import REGISTRY, WHOLE_RECORDS

NAMED: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "job": {"wtid": ("wtidccn",), "qmac": ("qwhccn",)},
    "transaction": {"wtid": ("transaction", "psb"), "qmac": ("transaction", "psb")},
    "queue": {"wqst": ("objname", "basename"), "qqst": ("qqstqnam",)},
    "channel": {"wtid": ("wtidchl",), "qcst": ("qcstchnm",)},
}
"""By option and table: the columns with such names; a match in one column is enough."""


class JoinKey(Enum):
    """Columns of the key that identifies a record, a block or a task, besides `source`.

    A row of one table is about the names in a row of another table if both have the same key. A
    task is identified by source and offset of its 116/1 record; the task of a 116/2 record without
    a 116/1 record, by the offset of the 116/2 record.
    """

    RECORD = ("record_no",)
    BLOCK = ("record_no", "block_no")
    TASK = ("task_source", "task_record_offset", "record_offset")


class Naming(NamedTuple):
    """Another table with the names for the rows of a table, and the key in both tables."""

    table: str
    key: JoinKey


@cache
def naming(option: str, table: str) -> Naming | None:
    """Return the table with the names of `option` for rows of `table`; None: no such table.

    The result is None for `record`, because a record is selected by the rows of all its blocks.
    """
    if table not in TABLES:
        return None
    block, records = TABLES[table].block, records_of(table)
    for named in NAMED[option]:
        if TABLES[named].block is block:
            return Naming(named, JoinKey.BLOCK)
    for named in NAMED[option]:
        if records & records_of(named):
            return Naming(named, JoinKey.TASK if option == "queue" else JoinKey.RECORD)
    return None


@cache
def tables_about(options: frozenset[str]) -> tuple[str, ...]:
    """Return the tables of whole control blocks whose rows are about names of all `options`."""
    return tuple(
        table
        for table in decoded_tables()
        if table != RECORD
        and TABLES[table].child is None
        and all(naming(option, table) for option in options)
    )


@cache
def records_of(table: str) -> frozenset[tuple[int, int]]:
    """Return type and subtype of the records that contain the block of a table.

    The subtype of a record that consists of one block is 0.
    """
    block = TABLES[table].block
    whole = {(smf_type, 0) for smf_type, each in WHOLE_RECORDS.items() if each is block}
    return frozenset(whole) | frozenset(
        record
        for record, triplets in REGISTRY.items()
        if any(each is block for each in triplets.values())
    )


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
    start         first local time at which selected records count; a whole second
    end           local time before which selected records count; a whole second
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
        objects. A record counts at the middle of its interval, but no earlier than half an hour
        before the end. A record without an interval counts at its SMF time. With `smf_time`, all
        records count at their SMF time, as with IFASMFDP.

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
        """Return the criteria as text; '': all records. The end is shown as the last second."""
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
    """Whether the selected time is not in SMF headers: a counting time, or a time in a zone."""
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
