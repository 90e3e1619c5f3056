"""Figures over time: the rows of all lines, put into slots of each queue manager's time."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, pairwise
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from smfparse.calendar import CALENDAR, calendar_macros, calendar_query, calendars_of
from smfparse.metrics import named_macros, view_macros
from smfparse.summarizing.declaration import Line, lines
from smfparse.summarizing.timing import Times

if TYPE_CHECKING:
    from smfparse.query import Catalog

_FOLDER = Path(__file__).with_name("definitions")
_SLOTS = "summary_slots"
_LINES = "summary_lines"
_ROWS = "summary_rows"
_LINE_COLUMNS = ("line", "measure", "top")
_SLOT_COLUMNS = ("system", "qmgr", "first_us", "slot_us", "slots", "covered")


@dataclass(frozen=True)
class Figures:
    """A line of a queue manager: what an object was over time.

    mean     over all of the time
    highest  of a slot of time, and the local time at which that begins
    slots    the amount and what it is per, by the number of the slot; those without data are not
             there
    """

    line: Line
    object: str
    mean: float
    highest: float
    at: dt.datetime
    slots: Mapping[int, tuple[float, float]]

    def over_time(self, count: int, most: int) -> list[float | None]:
        """Return the figure over time in at most `most` steps; None: no data.

        count  slots that there are
        """
        steps = min(count, most)
        bounds = [at * count // steps for at in range(steps + 1)]
        return [self.of(range(*each)) for each in pairwise(bounds)]

    def of(self, some: Iterable[int]) -> float | None:
        """Return the figure over some slots; None: there is no data in them."""
        found = [self.slots[slot] for slot in some if slot in self.slots]
        if not found:
            return None
        if self.line.measure == "peak":
            return max(amount for amount, _ in found)
        return sum(amount for amount, _ in found) / sum(per for _, per in found)


def line_queries(catalog: Catalog) -> dict[str, str]:
    """Return queries for the rows of all lines and intervals, by the names that hold their rows.

    Macros that they need are made in the catalog.
    """
    return with_macros(catalog, {_ROWS: _rows_query(), CALENDAR: calendar_query()})


def with_macros(catalog: Catalog, queries: dict[str, str]) -> dict[str, str]:
    """Return queries, whose macros are made in the catalog."""
    macros = view_macros() + calendar_macros()
    catalog.define(named_macros(" ".join(queries.values()), macros))
    return queries


def hold(catalog: Catalog, queries: Mapping[str, str]) -> None:
    """Have a catalog hold the rows of queries by their names; SMF files are read once."""
    for name, table in zip(queries, catalog.arrows([*queries.values()]), strict=True):
        catalog.connection.register(name, table)


def held_times(catalog: Catalog) -> list[Times]:
    """Return the times of each queue manager, of rows that the catalog holds."""
    rows = catalog.connection.table(CALENDAR).to_arrow_table()
    return [*map(Times.of, calendars_of(rows, catalog.zone).values())]


def _sql(name: str) -> str:
    return (_FOLDER / f"{name}.sql").read_text("utf-8")


def _rows_query() -> str:
    """Return the query for the rows of all lines."""
    parts = (f"SELECT '{name}' AS line, * FROM ({line.sql})" for name, line in lines().items())
    return (
        f"{_sql('common')}"
        "SELECT line, system, qmgr, object, start, seconds::DOUBLE AS seconds, "
        "amount::DOUBLE AS amount, per::DOUBLE AS per FROM "
        f"({' UNION ALL BY NAME '.join(parts)})"
    )


def _slot_table(found: Sequence[Times]) -> pa.Table:
    """Return how the time of each queue manager is divided, as `placed.sql` reads it."""
    texts = [pa.array([each.key[at] for each in found], pa.string()) for at in (0, 1)]
    rows = zip(*((each.first, each.slot, each.slots) for each in found), strict=True)
    numbers = [pa.array(each, pa.int64()) for each in rows] or [pa.array([], pa.int64())] * 3
    covered = pa.array([each.covered.tolist() for each in found], pa.list_(pa.float64()))
    return pa.table([*texts, *numbers, covered], names=_SLOT_COLUMNS)


def _line_table(tops: Mapping[str, int]) -> pa.Table:
    """Return how the rows of each line become figures, as `placed.sql` reads it."""
    rows = [(each.name, each.measure, tops.get(each.name, each.top)) for each in lines().values()]
    return pa.table([pa.array(each) for each in zip(*rows, strict=True)], names=_LINE_COLUMNS)


def held_figures(
    catalog: Catalog, found_times: Sequence[Times], tops: Mapping[str, int] = MappingProxyType({})
) -> dict[tuple[str, str], list[Figures]]:
    """Return the figures of each queue manager, of rows that the catalog holds.

    Lines are in their order, objects in theirs.

    tops  objects that are wanted of a line, where these are others than are shown
    """
    times = {each.key: each for each in found_times}
    catalog.connection.register(_SLOTS, _slot_table(found_times))
    catalog.connection.register(_LINES, _line_table(tops))
    found: dict[tuple[str, str], list[Figures]] = {}
    placed = chain.from_iterable(catalog.stream(_sql("placed")))
    for (name, key, its), rows in groupby(placed, _whose):
        slots = dict(_slots(lines()[name], rows))
        if slots:
            found.setdefault(key, []).append(_of_object(lines()[name], its, slots, times[key]))
    order = [*lines()]
    for each in found.values():
        each.sort(key=lambda figures: order.index(figures.line.name))
    return found


def _of_object(
    line: Line, name: str, slots: Mapping[int, tuple[float, float]], times: Times
) -> Figures:
    start, (amount, per) = max(slots.items(), key=lambda each: each[1][0] / each[1][1])
    mean = sum(each for each, _ in slots.values()) / sum(each for _, each in slots.values())
    at = times.local(times.first + start * times.slot)
    return Figures(line, name, mean, amount / per, at, slots)


def _whose(row: Mapping[str, Any]) -> tuple[str, tuple[str, str], str]:
    """Return the line, queue manager and object of a row."""
    return row["line"], (row["system"], row["qmgr"]), row["object"]


def _slots(
    line: Line, rows: Iterator[Mapping[str, Any]]
) -> Iterator[tuple[int, tuple[float, float]]]:
    """Yield the slots with data: of a total those without a row have 0."""
    for row in rows:
        if row["amount"] is not None and row["per"]:
            yield row["slot"], (float(row["amount"]), float(row["per"]))
        elif line.measure == "total" and row["slot_per"]:
            yield row["slot"], (0.0, float(row["slot_per"]))
