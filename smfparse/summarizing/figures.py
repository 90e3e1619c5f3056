"""Figures over time: the time span of each queue manager in slots, and figures in these slots.

A line is a figure of the summary, declared in `definitions/lines.toml`. The dataclasses here
declare the keys of this file.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import numpy as np

from smfparse.declarations import Key, Where, entries, expected, read_table
from smfparse.decoding.zones import Zone
from smfparse.metrics.calendar import (
    CALENDAR,
    SECOND_US,
    Calendar,
    calendar_macros,
    calendar_query,
    calendars_of,
)
from smfparse.metrics.measures import measure_of, metrics_of, over_time, way_of
from smfparse.metrics.views import named_macros
from smfparse.rendering.figures import STYLES
from smfparse.reports.declaration import report, report_names
from smfparse.summarizing.spreading import (
    Axis,
    Manager,
    Rows,
    Spread,
    rows_of,
    rows_query,
    seconds_of,
    spread,
    summed,
)
from smfparse.vectors import Floats, Ints

if TYPE_CHECKING:
    from smfparse.query.catalog import Catalog

MEASURES = {
    "average": "sum of `amount` over sum of `per`; highest average first",
    "peak": "greatest `amount`; highest peak first",
    "total": "`amount` per second, 0 without data; largest total first",
}
"""Ways to combine rows into one figure, each with its formula and the order of objects."""
_FOLDER = Path(__file__).with_name("definitions")


def _whole(value: Any, where: Where, _before: Mapping[str, Any]) -> int:
    number: int = expected(int, value, "a whole number", where)
    return number


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A figure of a queue manager over time, and the source of its rows.

    A row of `sql` is about an object in an interval. The columns are system, qmgr, object (all
    VARCHAR), start (UTC), seconds, amount; for an average also per, the divisor.
    """

    report: Annotated[str, Key("the report with more detail", "that of the metric's subject")] = ""
    metric: Annotated[
        Any,
        Key("the measure: log.task_busy; or several measures, by object", "the values of `sql`"),
    ] = ""
    measure: Annotated[
        str,
        Key("how rows are combined", "as the metric defines; for `sql`, total", among=MEASURES),
    ] = "total"
    sql: Annotated[str, Key("query for the rows", "the rows of the metric")] = ""
    versions: Annotated[str, Key("the first MQ version with its fields", "all")] = ""
    optional: Annotated[bool, Key("whether some sites have no such data")] = False

    @property
    def trace(self) -> str:
        """The MQ command that starts the required trace."""
        return report(self.report).trace.rstrip(",")


@dataclass(frozen=True)
class Line(Shown):
    """A line of a summary: a figure, for the objects with its highest values."""

    name: str
    label: Annotated[str, Key("name of the figure, with its unit")]
    style: Annotated[
        str,
        Key("[style](../smfparse/rendering/figures.py) of the figure", among=STYLES),
    ] = "tenths"
    top: Annotated[int, Key("number of objects shown", read=_whole, written="a number")] = 1
    limit: Annotated[float, Key("value that the figure must not reach", "none")] = math.nan
    names: Annotated[
        str, Key("kind of object, if new and missing objects are reported", "none")
    ] = ""

    @property
    def full(self) -> float:
        """The value of a full block in a sparkline; 0: the greatest value in the sparkline."""
        return 100 if self.label.endswith(", %") else 0


def with_metrics(given: dict[str, Any]) -> dict[str, Any]:
    """Return a declaration with the keys that its metric supplies: sql, measure and report."""
    metric = given.get("metric")
    if not metric:
        return given
    way = given.get("measure") or way_of(metric)
    subject, _ = measure_of(metrics_of(metric)[0])
    return {"sql": over_time(metric, way), "measure": way, "report": subject.report} | given


@cache
def lines() -> Mapping[str, Line]:
    """Return all lines by name, in their order. Raises RequestError for a wrong declaration."""
    found = {}
    for name, spec, where in entries(_FOLDER / "lines.toml"):
        given = with_metrics(expected(dict, spec, "a table", where))
        line = Line(name, **read_table(Line, given, where))
        where.at("report").check("report", line.report, report_names())
        found[name] = line
    return found


_MINUTE_US = 60 * SECOND_US
_SLOTS = 48
"""Maximum number of slots of a queue manager without statistics intervals."""


@dataclass(frozen=True)
class Times:
    """The time span of a queue manager's data, in microseconds since 1970, UTC.

    calendar     intervals of the queue manager
    first, last  start of the first interval, and end of the last interval
    slots        number of slots in this time span, each about as long as a typical interval
    """

    calendar: Calendar
    first: int
    last: int
    slots: int

    @classmethod
    def of(cls, calendar: Calendar) -> Times:
        """Return the times of a queue manager."""
        first, last = calendar.first, calendar.last
        if calendar.is_recorded and calendar.typical:
            slots = round((last - first) / (calendar.typical * SECOND_US))
        else:
            last = max(last, first + _MINUTE_US)
            slots = min((last - first) // _MINUTE_US, _SLOTS)
        return cls(calendar, first, last, max(slots, 1))

    @property
    def key(self) -> tuple[str, str]:
        """System and queue manager."""
        return self.calendar.key

    @property
    def system(self) -> str:
        """Name of the system."""
        return self.calendar.system

    @property
    def qmgr(self) -> str:
        """Name of the queue manager."""
        return self.calendar.qmgr

    @property
    def name(self) -> str:
        """Names of the queue manager and of its system, for readers."""
        return " on ".join(filter(None, (self.qmgr, self.system)))

    @property
    def mq_version(self) -> str:
        """The newest MQ version in the data."""
        return self.calendar.mq_version

    @property
    def clock(self) -> Zone:
        """The zone for local times."""
        return self.calendar.clock

    @property
    def latest(self) -> int:
        """The latest middle of an interval; it determines the last day."""
        whole = self.calendar.whole
        return int(((self.calendar.starts + self.calendar.ends) // 2)[whole].max())

    @property
    def offset(self) -> int:
        """Local time minus UTC at the end of the data, seconds."""
        return self.clock.offset(self.last - 1)

    @property
    def slot(self) -> int:
        """The length of a slot, microseconds."""
        return -(-(self.last - self.first) // self.slots)

    @cached_property
    def starts(self) -> Ints:
        """The start of each slot."""
        found: Ints = self.first + self.slot * np.arange(self.slots, dtype=np.int64)
        return found

    @property
    def axis(self) -> Axis:
        """The slots as an axis."""
        return Axis(self.starts, self.starts + self.slot, np.zeros(self.slots, np.bool_))

    @property
    def covered(self) -> Floats:
        """The number of seconds with data in each slot."""
        return self.calendar.covered(self.starts, self.starts + self.slot)

    def began(self, slot: int) -> int:
        """Return the start of the data in a slot, which is later than the slot after a gap."""
        starts, stops = self.calendar.spans
        first = int(self.starts[slot])
        behind = np.flatnonzero(stops > first)
        return max(first, int(starts[behind[0]])) if behind.size else first

    def local(self, microseconds: int) -> dt.datetime:
        """Return a moment as local time in `clock`."""
        return self.clock.local(microseconds)


_COMMON = Path(__file__).with_name("definitions") / "common.sql"
_ROWS = "summary_rows"
HeldLine: TypeAlias = tuple[Line, Manager, Rows]
"""A line, a queue manager, and the rows of the line for this queue manager."""


@dataclass(frozen=True, eq=False)
class Figures:
    """The figure of a line for one object over time.

    mean     figure over the whole time
    highest  highest figure of a slot
    at       local time at which the data of the highest slot begins
    amounts  amounts by slot
    pers     divisors of the amounts by slot; 0: no data
    """

    line: Line
    object: str
    mean: float
    highest: float
    at: dt.datetime
    amounts: Floats
    pers: Floats

    def over_time(self, count: int, most: int) -> list[float | None]:
        """Return the figure in up to `most` equal steps of the `count` slots; None: no data."""
        steps = min(count, most)
        bounds = [at * count // steps for at in range(steps + 1)]
        return [self.of(range(*each)) for each in pairwise(bounds)]

    def of(self, some: Iterable[int]) -> float | None:
        """Return the figure over some slots; None: these slots contain no data."""
        slots = np.fromiter(some, np.int64)
        slots = slots[self.pers[slots] > 0]
        if not len(slots):
            return None
        amounts = self.amounts[slots]
        if self.line.measure == "peak":
            return float(amounts.max())
        return float(amounts.sum() / self.pers[slots].sum())


def line_queries(catalog: Catalog) -> dict[str, str]:
    """Return the queries for the rows of all lines and intervals, by name, for `hold`."""
    rows = rows_query("line", ((name, each.sql) for name, each in lines().items()))
    query = f"{_COMMON.read_text('utf-8')}{rows}"
    return with_macros(catalog, {_ROWS: query, CALENDAR: calendar_query()})


def with_macros(catalog: Catalog, queries: dict[str, str]) -> dict[str, str]:
    """Create the macros that queries use in a catalog; return the queries unchanged."""
    macros = calendar_macros(catalog.inputs.selection)
    catalog.define(named_macros(" ".join(queries.values()), macros))
    return queries


def hold(catalog: Catalog, queries: Mapping[str, str]) -> None:
    """Add the results of queries to a catalog, by name; SMF files are read once."""
    for name, table in zip(queries, catalog.arrows([*queries.values()]), strict=True):
        catalog.hold(name, table)


def held_times(catalog: Catalog) -> list[Times]:
    """Return the times of each queue manager, from rows held by the catalog."""
    return [*map(Times.of, calendars_of(catalog.held[CALENDAR], catalog.zone).values())]


def held_lines(catalog: Catalog) -> Iterator[HeldLine]:
    """Yield the rows of each line and queue manager, from rows held by the catalog."""
    for name, manager, rows in rows_of(catalog.held[_ROWS], "line"):
        yield lines()[name], manager, rows


def figures_of(
    several: Iterable[HeldLine],
    found_times: Sequence[Times],
    tops: Mapping[str, int] = MappingProxyType({}),
) -> dict[Manager, list[Figures]]:
    """Return the figures of each queue manager, from the rows of `held_lines`.

    Lines are in declared order, and objects in the order that MEASURES describes.

    tops  number of objects by line, if it differs from `Line.top`
    """
    times = {each.key: each for each in found_times}
    found: dict[Manager, list[Figures]] = {}
    for line, key, rows in several:
        if key in times:
            top = tops.get(line.name, line.top)
            found.setdefault(key, []).extend(_of_line(line, rows, times[key], top))
    order = [*lines()]
    for each in found.values():
        each.sort(key=lambda figures: order.index(figures.line.name))
    return found


def _of_line(line: Line, rows: Rows, times: Times, top: int) -> Iterator[Figures]:
    """Yield the figures of the `top` objects of a line; after the first, only objects above 0.

    Objects are ranked without slots, so memory contains the slots of one object at a time.
    """
    axis = times.axis
    parts = spread(axis, rows)
    ranks = _ranks(rows, parts, line.measure)
    order = sorted(range(len(ranks)), key=lambda at: (-ranks[at], rows.objects[at]))
    if line.measure == "total":
        has_rows = np.bincount(parts.cells, minlength=times.slots) > 0
        seconds = np.maximum(times.covered, seconds_of(axis, rows, parts)) * has_rows
    for place, at in enumerate(order[: max(top, 1)]):
        own = rows.of[parts.rows] == at
        one = replace(rows, objects=[rows.objects[at]], of=np.zeros_like(rows.of))
        sums = summed(axis, one, Spread(*(each[own] for each in parts)), line.measure)
        amounts = np.where(sums.filled, sums.amounts, 0)[0]
        pers = seconds if line.measure == "total" else sums.pers[0]
        there = pers > 0
        if there.any() and (not place or ranks[at] > 0):
            values = _per(amounts, pers)
            highest = int(values.argmax())
            yield Figures(
                line,
                rows.objects[at],
                float(amounts[there].sum() / pers.sum()),
                float(values[highest]),
                times.local(times.began(highest)),
                amounts,
                pers,
            )


def _ranks(rows: Rows, parts: Spread, measure: str) -> Floats:
    """Return the values by which objects are sorted: mean, peak or sum, by measure."""
    of, amounts = rows.of[parts.rows], rows.amounts[parts.rows]
    if measure == "peak":
        ranks = np.zeros(len(rows.objects))
        np.maximum.at(ranks, of, amounts)
        return ranks
    sums: Floats = np.bincount(of, amounts * parts.shares, len(rows.objects)).astype(np.float64)
    if measure == "average":
        pers = np.nan_to_num(rows.pers[parts.rows]) * parts.shares
        return _per(sums, np.bincount(of, pers, len(rows.objects)).astype(np.float64))
    return sums


def _per(amounts: Floats, pers: Floats) -> Floats:
    found: Floats = np.where(pers > 0, amounts / np.where(pers > 0, pers, 1), -np.inf)
    return found
