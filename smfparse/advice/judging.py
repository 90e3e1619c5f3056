"""Evaluation of rules over the rows of their subjects: intervals in which each condition is true.

All subjects are read in one scan. Each rule adds a column, its `State`, to the rows of its subject.
An interval is crossed if the condition is true. Consecutive crossed intervals are a run. Runs with
at most one interval between them are an episode.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from smfparse.advice.declaration import Rule, Subject, planner_inputs, rules, subjects
from smfparse.decoding.zones import Zone, fixed_zone
from smfparse.metrics.calendar import (
    CALENDAR,
    SECOND_US,
    Calendar,
    calendar_macros,
    calendar_query,
    calendars_of,
    ends_of,
)
from smfparse.metrics.figures import selected, with_figures
from smfparse.metrics.measures import quoted
from smfparse.metrics.views import named_macros, words_in

if TYPE_CHECKING:
    from smfparse.query.catalog import Catalog

_SLACK = 0.1
"""Maximum distance between consecutive intervals, as a share of the length of the later one."""


class Run(NamedTuple):
    """Consecutive crossed intervals.

    start, end  start of the first and end of the last interval, microseconds since 1970, UTC
    intervals   number of intervals
    seconds     total length of the intervals
    """

    start: int
    end: int
    intervals: int
    seconds: float


class Intervals(NamedTuple):
    """Intervals in which a rule was evaluated, in the order of time.

    starts   int64 (intervals,): start, microseconds since 1970, UTC
    seconds  float64 (intervals,): length
    crossed  bool (intervals,): whether the condition is true
    """

    starts: NDArray[np.int64]
    seconds: NDArray[np.float64]
    crossed: NDArray[np.bool_]


def runs(
    starts: NDArray[np.int64], seconds: NDArray[np.float64], crossed: NDArray[np.bool_]
) -> list[Run]:
    """Return the runs of crossed intervals among the evaluated intervals of an object.

    starts, seconds, crossed  as in `Intervals`; a gap between two intervals ends a run
    """
    ends = ends_of(starts, seconds)
    slack = _SLACK * seconds * SECOND_US
    follows = np.r_[False, starts[1:] - ends[:-1] <= slack[1:]]
    begins = crossed & ~(np.r_[False, crossed[:-1]] & follows)
    numbers = np.cumsum(begins)[crossed] - 1
    first = np.flatnonzero(begins)
    last = (
        np.flatnonzero(crossed)[np.r_[numbers[1:] != numbers[:-1], True]] if len(first) else first
    )
    counts, lengths = np.bincount(numbers), np.bincount(numbers, seconds[crossed])
    return [
        Run(int(starts[a]), int(ends[b]), int(n), float(s))
        for a, b, n, s in zip(first, last, counts, lengths, strict=True)
    ]


def episodes(found: Sequence[Run], usual: float) -> list[Run]:
    """Return episodes: runs with at most one interval between them are combined.

    found  runs in the order of time
    usual  median length of an interval, seconds
    """
    joined: list[Run] = []
    apart = (1 + _SLACK) * usual * SECOND_US
    for run in found:
        if joined and run.start - joined[-1].end <= apart:
            before = joined.pop()
            run = Run(
                before.start,
                run.end,
                before.intervals + run.intervals,
                before.seconds + run.seconds,
            )
        joined.append(run)
    return joined


def together(several: Sequence[Intervals]) -> Intervals:
    """Return the union of the intervals of several objects; `crossed`: crossed for any object."""
    starts, seconds, crossed = map(np.concatenate, zip(*several, strict=True))
    its, first, numbers = np.unique(starts, return_index=True, return_inverse=True)
    return Intervals(its, seconds[first], np.bincount(numbers, crossed) > 0)


def main_episode(found: Sequence[Run], usual: float) -> Run:
    """Return the episode with the most crossed seconds; of equal episodes, the first."""
    return max(episodes(found, usual), key=lambda each: each.seconds)


def touches(found: Sequence[Run], start: int, end: int) -> bool:
    """Whether a run overlaps the time from start to end; `found`: runs in the order of time."""
    at = bisect_left(found, end, key=lambda each: each.start)
    return at > 0 and found[at - 1].end > start


def overlapped(found: Sequence[Run], spans: Sequence[tuple[int, int]]) -> float:
    """Return the crossed seconds within spans. Only runs that begin in a span count.

    found  runs, in the order of time
    spans  start and end of each span, in the order of time
    """
    seconds, at = 0.0, 0
    for run in found:
        while at < len(spans) and spans[at][1] <= run.start:
            at += 1
        if at == len(spans):
            break
        start, end = spans[at]
        if run.start >= start:
            share = (min(run.end, end) - run.start) / max(run.end - run.start, 1)
            seconds += share * run.seconds
    return seconds


KEYS = ("system", "qmgr", "object", "job")
"""The columns of a subject that identify what a finding is about."""
_EXCLUDED = "excluded"
_CROSSED = "crossed"
_KEYS_OF_ROWS = {
    **{each: each for each in ("system", "qmgr", "utc_offset", "mq_version")},
    "job": "''",
    "start": "interval_start",
    "seconds": "interval_seconds",
    "sequence": "(source, record_no, block_no)",
}
"""SQL of columns of all subjects, except of `object`. `sequence` orders rows of one interval."""
_SHARED = (
    "task_intervals('inputs.wtid', 'inputs.qmst')",
    "intervals_of_qmgrs('inputs.qmst', 'inputs.qjst', 'inputs.qcct', 'inputs.wtid', 'inputs.qcst')",
)
"""Relations that many subjects select from."""


class State(IntEnum):
    """The state of a rule in an interval; NULL in SQL: fields of the condition are missing."""

    CLEAR = 0
    CROSSED = 1
    FEW_CLEAR = 2
    FEW_CROSSED = 3
    """FEW_CLEAR and FEW_CROSSED: the sample is below the minimum."""


@dataclass(frozen=True)
class Judged:
    """A subject's rows, in the order of key and time, with a column for each rule's state.

    rules      the rules evaluated over these rows
    every      all rows, with the states of the rules and with the columns that all rows have
    crossed    the rows for which a condition is true, with all columns
    at         the row number in `every` of each row of `crossed`
    starts     start of each row, microseconds since 1970, UTC
    seconds    length of each row
    groups     index of each row's key in `keys`
    keys       system, queue manager, object and job; '': none
    excluded   whether a row is ignored: its time does not fit the calendar
    calendars  calendars by system and queue manager
    """

    subject: Subject
    rules: Sequence[Rule]
    every: pa.Table
    crossed: pa.Table
    at: NDArray[np.int64]
    starts: NDArray[np.int64]
    seconds: NDArray[np.float64]
    groups: NDArray[np.int64]
    keys: Sequence[tuple[str, str, str, str]]
    excluded: NDArray[np.bool_]
    calendars: Mapping[tuple[str, str], Calendar]

    @property
    def name(self) -> str:
        """The name of the crossed rows in SQL."""
        return f"subject_{self.subject.name}"

    @property
    def named(self) -> Mapping[str, pa.Table]:
        """The rows that SQL can read, by name."""
        of_all = {name_of_all(self.subject.name): self.every} if self.subject.of_all else {}
        return {self.name: self.crossed, **of_all}

    def states(self, rule: Rule) -> NDArray[np.int8]:
        """Return the state of each row; -1: not evaluated, or excluded."""
        found = _doubles(self.every[rule.id], -1)
        return np.where(self.excluded, -1, found).astype(np.int8)

    def rows(self, group: int) -> NDArray[np.int64]:
        """Return the row numbers of a group, which are consecutive."""
        first, last = np.searchsorted(self.groups, [group, group + 1])
        return np.arange(first, last)

    def groups_of(self, rows: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the distinct groups of the rows that a mask selects."""
        its = self.groups[rows]
        return its[np.flatnonzero(np.diff(its, prepend=-1))]

    def clock(self, row: int) -> Zone:
        """Return the clock of a row's queue manager, for local times."""
        known = self.calendars.get(self.keys[self.groups[row]][:2])
        return known.clock if known else fixed_zone(self.every["utc_offset"][row].as_py() or 0)

    def calendar(self, row: int) -> Calendar | None:
        """Return the calendar of a row's queue manager, or the longest calendar of its system."""
        system, qmgr = self.keys[self.groups[row]][:2]
        its = [
            each
            for each in self.calendars.values()
            if each.system == system and qmgr in ("", each.qmgr)
        ]
        return max(its, key=lambda each: len(each.starts), default=None)

    def number(self, column: str) -> NDArray[np.float64]:
        """Return a column as float64 (rows,); NaN: NULL, not finite, or only in crossed rows."""
        if column in self.every.column_names:
            found = _doubles(self.every[column])
        else:
            found = np.full(len(self.starts), np.nan)
            found[self.at] = _doubles(self.crossed[column])
        return np.where(np.isfinite(found), found, np.nan)


def condition(rule: Rule) -> str:
    """Return the condition of a rule with its limits, as SQL."""
    return filled(rule, rule.condition)


def value_column(rule: Rule) -> str:
    """Return the name of the column with the figure that is compared with the limit."""
    return f"value of {rule.id}"


def trend_columns(rule: Rule) -> tuple[str, str]:
    """Return the names of the columns with the figure of the trend, and with its limit."""
    return f"trend of {rule.id}", f"end of {rule.id}"


def filled(rule: Rule, sql: str) -> str:
    """Return SQL of a rule with its limits replaced by their values."""
    for name, limit in rule.limits.items():
        sql = sql.replace(f"{{{name}}}", repr(limit.value))
    return sql


def judged(
    catalog: Catalog, asked: Mapping[str, Rule], also: Mapping[str, str], *, whole: bool = False
) -> Iterator[Judged]:
    """Evaluate rules, and yield the rows of each subject with the states of its rules.

    Subjects that are known to have no data are omitted.

    asked  rules by id, with all limits known
    also   further queries by name; the catalog holds their rows under these names
    whole  whether all rows have all columns, not only those for which a condition is true
    """
    by_subject: dict[str, list[Rule]] = defaultdict(list)
    for rule in asked.values():
        by_subject[rule.subject].append(rule)
    queries = [
        subject_query(subjects()[name], some, whole=whole) for name, some in by_subject.items()
    ]
    also = {CALENDAR: calendar_query(), **also}
    macros = calendar_macros(catalog.inputs.selection)
    catalog.define(named_macros(" ".join([*queries, *also.values()]), macros))
    tables = catalog.arrows_of_filled(queries, [*also.values()], _SHARED)
    held = {name: next(tables) for name in also}
    calendars = calendars_of(held[CALENDAR], catalog.zone)
    several = [
        _judged(subjects()[name], some, table, calendars)
        for (name, some), table in zip(by_subject.items(), tables, strict=True)
        if table is not None
    ]
    for name, table in held.items():
        catalog.hold(name, table)
    for found in several:
        for name, table in found.named.items():
            catalog.connection.register(name, table)
        yield found


def name_of_all(subject: str) -> str:
    """Return the name in SQL of all rows of a subject, crossed or not."""
    return f"all_of_{subject}"


def subject_query(subject: Subject, some: Sequence[Rule], *, whole: bool = True) -> str:
    """Return the query for the rows of a subject with the states and values of rules.

    Values that overflow because of damaged counters are NULL.

    whole  whether all rows have all columns; otherwise, `crossed` is a list with the whole row if
           the condition of a rule is true, and NULL in other rows
    """
    columns = [_state(each) for each in some]
    columns += (f'TRY(({each.figure.of_row})::DOUBLE) AS "{value_column(each)}"' for each in some)
    trends: list[str] = []
    for rule in some:
        if rule.trend:
            trends += trend_columns(rule)
            pairs = zip((rule.trend.value, rule.trend.limit), trend_columns(rule), strict=True)
            columns += (f'TRY(({filled(rule, sql)})::DOUBLE) AS "{name}"' for sql, name in pairs)
    order = [*KEYS, "start", *(["sequence"] if subject.of else [])]
    every, shown = "*", "* EXCLUDE (sequence)" if subject.of else "*"
    if not whole:
        ids = [each.id for each in some]
        of_all = [*KEYS, "start", "seconds", "utc_offset", *subject.of_all, *ids, *trends]
        crossing = [f'"{each}" = {State.CROSSED:d}' for each in ids]
        crossing += [f'"{each.id}" = {State.FEW_CROSSED:d}' for each in some if each.shows_few]
        later = {word for rule in some for sql in sql_of_crossed(rule) for word in words_in(sql)}
        named = ", ".join(map(quoted, sorted({*of_all, *order, *later})))
        every = f"COLUMNS(lambda name: name IN ({named}))"
        shown = ", ".join(f'"{each}"' for each in of_all)
        shown += f", CASE WHEN {' OR '.join(crossing)} THEN [whole] END AS {_CROSSED}"
    return (
        f"SELECT {shown} FROM (SELECT {every}, {', '.join(columns)} "
        f"FROM ({rows_query(subject, some)}) WHERE start IS NOT NULL) AS whole "
        f"ORDER BY {', '.join(order)}"
    )


def rows_query(subject: Subject, some: Sequence[Rule] = ()) -> str:
    """Return the query for the rows of a subject, with the measures that its SQL or rules name."""
    query = with_figures(subject.sql)
    if not subject.of:
        return query
    named = words_in(subject.sql + named_macros(subject.sql))
    named |= {word for rule in some for sql in sql_of_rule(rule) for word in words_in(sql)}
    keys = _KEYS_OF_ROWS if subject.object else {**_KEYS_OF_ROWS, "object": "''"}
    return f"WITH rows AS ({selected(subject.of, keys, named)}) SELECT * FROM ({query})"


def sql_of_rule(rule: Rule) -> Iterator[str]:
    """Yield all SQL of a rule: over rows of its subject, and over the crossed rows."""
    yield from (rule.condition, rule.minimum, rule.figure.of_row)
    yield from sql_of_crossed(rule)
    if rule.trend:
        yield from (rule.trend.value, rule.trend.limit)


def sql_of_crossed(rule: Rule) -> Iterator[str]:
    """Yield the SQL of a rule over the crossed rows."""
    yield from rule.aggregates().values()
    yield from planner_inputs(rule).values()


def _state(rule: Rule) -> str:
    """Return the SQL of the state of a row; NULL if the condition is NULL."""
    held = f"TRY({condition(rule)})::TINYINT"
    if rule.minimum != "TRUE":
        least = f"TRY({filled(rule, rule.minimum)})"
        held += f" + CASE WHEN {least} THEN 0 ELSE {State.FEW_CLEAR.value} END"
    return f'({held})::TINYINT AS "{rule.id}"'


def _judged(
    subject: Subject,
    some: Sequence[Rule],
    table: pa.Table,
    calendars: Mapping[tuple[str, str], Calendar],
) -> Judged:
    starts = _microseconds(table["start"])
    seconds = _doubles(table["seconds"], 0.0)
    values = [table[each].to_numpy() for each in KEYS]
    groups, first = _numbered(values)
    keys = [
        (system or "", qmgr or "", name or "", job or "")
        for system, qmgr, name, job in zip(*(each[first] for each in values), strict=True)
    ]
    odd = np.zeros(len(groups), bool)
    if not subject.is_whole:
        managers, first = _numbered(values[:2])
        for number, (system, qmgr) in enumerate(zip(*(e[first] for e in values[:2]), strict=True)):
            its = managers == number
            if known := calendars.get((system or "", qmgr or "")):
                odd[its] = known.is_odd(starts[its], seconds[its])
    crossed, at = table, np.arange(len(groups))
    if _CROSSED in table.column_names:
        crossed, at = _crossed(table[_CROSSED])
        table = table.drop_columns([_CROSSED])
    crossed = _in_doubles(crossed).append_column(_EXCLUDED, pa.array(odd[at]))
    return Judged(subject, some, table, crossed, at, starts, seconds, groups, keys, odd, calendars)


def _crossed(lists: pa.ChunkedArray) -> tuple[pa.Table, NDArray[np.int64]]:
    """Return the rows of lists with 0 or 1 rows each, and the index of the list of each row."""
    offsets = [each.offsets.to_numpy() for each in lists.chunks]
    rows = [
        pa.RecordBatch.from_struct_array(each.values[int(at[0]) : int(at[-1])])
        for each, at in zip(lists.chunks, offsets, strict=True)
    ]
    sizes = map(np.diff, offsets)
    schema = pa.schema(list(lists.type.value_type))
    return pa.Table.from_batches(rows, schema), np.flatnonzero(np.concatenate([[], *sizes]))


def _in_doubles(table: pa.Table) -> pa.Table:
    """Return rows whose whole numbers are doubles, so that no sum or product overflows."""
    columns = [
        pa.array(_doubles(each), from_pandas=True) if _is_wide(each.type) else each
        for each in table.columns
    ]
    return pa.table(columns, table.column_names)


def _is_wide(kind: Any) -> bool:
    return (pa.types.is_integer(kind) and not pa.types.is_int8(kind)) or pa.types.is_decimal(kind)


def _numbered(values: Sequence[NDArray[Any]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the group number of each row, and the first row of each group of adjacent equals."""
    if not len(values[0]):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    new = np.r_[True, np.any([each[1:] != each[:-1] for each in values], axis=0)]
    return np.cumsum(new) - 1, np.flatnonzero(new)


def _doubles(column: pa.ChunkedArray, missing: float = np.nan) -> NDArray[np.float64]:
    """Return a column as float64, with `missing` for NULL (pyarrow.compute is a slow import)."""
    found = column.to_numpy().astype(np.float64)
    return np.where(np.isnan(found), missing, found)


def _microseconds(column: pa.ChunkedArray) -> NDArray[np.int64]:
    found = column.to_numpy().astype("datetime64[us]")
    return np.where(np.isnat(found), 0, found.astype(np.int64))


def held_rows(catalog: Catalog, query: str) -> list[dict[str, Any]]:
    """Return the rows of a query over rows that the catalog holds, without decoding."""
    rows: list[dict[str, Any]] = catalog.connection.sql(query).to_arrow_table().to_pylist()
    return rows


def crossed_rows(rule: Rule) -> str:
    """Return the SQL condition for crossed rows that are not excluded."""
    return f'"{rule.id}" = {State.CROSSED.value} AND NOT {_EXCLUDED}'


def wanted(limits: Mapping[str, Mapping[str, float]]) -> dict[str, Rule]:
    """Return the rules whose limits are all known, after some limits are changed.

    limits  changed limits, by rule and by name of the limit
    """
    found = {}
    for name, rule in rules().items():
        changed = {
            key: replace(limit, value=limits.get(name, {}).get(key, limit.value))
            for key, limit in rule.limits.items()
        }
        rule = replace(rule, limits=changed)
        if rule.complete:
            found[name] = rule
    return found
