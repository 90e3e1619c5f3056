"""Figures over time: the rows of all lines, put into slots of each queue manager's time."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from smfparse.calendar.intervals import CALENDAR, calendar_macros, calendar_query, calendars_of
from smfparse.metrics.views import named_macros, view_macros
from smfparse.summarizing.declaration import Line, lines
from smfparse.summarizing.spreading import (
    Manager,
    Rows,
    rows_of,
    rows_query,
    seconds_of,
    spread,
    summed,
)
from smfparse.summarizing.timing import Times
from smfparse.vectors import Floats

if TYPE_CHECKING:
    from smfparse.query.catalog import Catalog

_COMMON = Path(__file__).with_name("definitions") / "common.sql"
_ROWS = "summary_rows"
HeldLine: TypeAlias = tuple[Line, Manager, Rows]
"""The rows of a line about a queue manager."""


@dataclass(frozen=True, eq=False)
class Figures:
    """A line of a queue manager: what an object was over time.

    mean     over all of the time
    highest  of a slot of time, and the local time at which that begins
    amounts  by the number of the slot
    pers     what these are per; 0: there is no data
    """

    line: Line
    object: str
    mean: float
    highest: float
    at: dt.datetime
    amounts: Floats
    pers: Floats

    def over_time(self, count: int, most: int) -> list[float | None]:
        """Return the figure over time in at most `most` steps; None: no data.

        count  slots that there are
        """
        steps = min(count, most)
        bounds = [at * count // steps for at in range(steps + 1)]
        return [self.of(range(*each)) for each in pairwise(bounds)]

    def of(self, some: Iterable[int]) -> float | None:
        """Return the figure over some slots; None: there is no data in them."""
        slots = np.fromiter(some, np.int64)
        slots = slots[self.pers[slots] > 0]
        if not len(slots):
            return None
        amounts = self.amounts[slots]
        if self.line.measure == "peak":
            return float(amounts.max())
        return float(amounts.sum() / self.pers[slots].sum())


def line_queries(catalog: Catalog) -> dict[str, str]:
    """Return queries for the rows of all lines and intervals, by the names that hold their rows.

    Macros that they need are made in the catalog.
    """
    rows = rows_query("line", ((name, each.sql) for name, each in lines().items()))
    query = f"{_COMMON.read_text('utf-8')}{rows}"
    return with_macros(catalog, {_ROWS: query, CALENDAR: calendar_query()})


def with_macros(catalog: Catalog, queries: dict[str, str]) -> dict[str, str]:
    """Return queries, whose macros are made in the catalog."""
    macros = view_macros() + calendar_macros(catalog.inputs.selection)
    catalog.define(named_macros(" ".join(queries.values()), macros))
    return queries


def hold(catalog: Catalog, queries: Mapping[str, str]) -> None:
    """Have a catalog hold the rows of queries by their names; SMF files are read once."""
    for name, table in zip(queries, catalog.arrows([*queries.values()]), strict=True):
        catalog.hold(name, table)


def held_times(catalog: Catalog) -> list[Times]:
    """Return the times of each queue manager, of rows that the catalog holds."""
    return [*map(Times.of, calendars_of(catalog.held[CALENDAR], catalog.zone).values())]


def held_lines(catalog: Catalog) -> Iterator[HeldLine]:
    """Yield the rows of each line and queue manager, of rows that the catalog holds."""
    for name, manager, rows in rows_of(catalog.held[_ROWS], "line"):
        yield lines()[name], manager, rows


def figures_of(
    several: Iterable[HeldLine],
    found_times: Sequence[Times],
    tops: Mapping[str, int] = MappingProxyType({}),
) -> dict[Manager, list[Figures]]:
    """Return the figures of each queue manager, of the rows of `held_lines`.

    Lines are in their order, objects in theirs.

    tops  objects that are wanted of a line, where these are others than are shown
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
    """Yield the figures of the objects of a line that come first: one, others if they are not 0."""
    axis = times.axis
    parts = spread(axis, rows)
    amounts, pers, filled, _ = summed(axis, rows, parts, line.measure)
    if line.measure == "total":
        seconds = np.maximum(times.covered, seconds_of(axis, rows, parts))
        pers = np.broadcast_to(seconds * filled.any(axis=0), amounts.shape)
    amounts = np.where(filled, amounts, 0)
    ranks = amounts.max(axis=1) if line.measure == "peak" else amounts.sum(axis=1)
    if line.measure == "average":
        ranks = _per(ranks, pers.sum(axis=1))
    order = sorted(range(len(ranks)), key=lambda at: (-ranks[at], rows.objects[at]))
    for place, at in enumerate(order):
        there = pers[at] > 0
        if there.any() and (not place or (place < top and ranks[at] > 0)):
            values = _per(amounts[at], pers[at])
            highest = int(values.argmax())
            yield Figures(
                line,
                rows.objects[at],
                float(amounts[at][there].sum() / pers[at].sum()),
                float(values[highest]),
                times.local(times.first + highest * times.slot),
                amounts[at],
                pers[at],
            )


def _per(amounts: Floats, pers: Floats) -> Floats:
    """Return amounts per something; -inf: per nothing."""
    found: Floats = np.where(pers > 0, amounts / np.where(pers > 0, pers, 1), -np.inf)
    return found
