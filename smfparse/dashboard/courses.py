"""Courses: the value of each object of a panel in each interval of its queue manager."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from smfparse.dashboard.declaration import TROUGH, Panel, panels
from smfparse.summarizing.figures import Times
from smfparse.summarizing.spreading import (
    Axis,
    Manager,
    Rows,
    Spread,
    blocks,
    rows_of,
    spread,
    summed,
)
from smfparse.vectors import Bools, Floats, Ints

if TYPE_CHECKING:
    import pyarrow as pa

_SUMS = 2_000_000
"""Maximum number of sums that are computed in one step (intervals times objects)."""
MOST_POINTS = 1500
"""Maximum number of points of a course in a chart; further points are combined."""


def axis_of(times: Times) -> Axis:
    """Return the recorded intervals of a queue manager; without such intervals, its slots."""
    calendar = times.calendar
    if not calendar.is_recorded:
        return times.axis
    kept: list[tuple[int, int, bool]] = []
    found = zip(calendar.starts.tolist(), calendar.ends.tolist(), calendar.gaps > 0, strict=True)
    for start, end, after_gap in found:
        follows = not kept or (start + end) // 2 > kept[-1][1]
        if start >= times.first and end > start and follows:
            kept.append((max(start, kept[-1][1]) if kept else start, end, bool(after_gap)))
    starts, ends, gaps = (np.array(each) for each in zip(*kept, strict=True))
    return Axis(starts, ends, gaps)


def groups(axis: Axis, most: int) -> Ints:
    """Return the group number of each interval; there are about `most` groups.

    A group consists of consecutive intervals without a gap.
    """
    size = -(-len(axis.starts) // most)
    gaps = axis.after_gap
    run = np.cumsum(gaps)
    begins = np.flatnonzero(np.r_[True, gaps[1:]])
    within = np.arange(len(run)) - begins[run]
    new = np.r_[True, gaps[1:] | (within[1:] % size == 0)]
    found: Ints = np.cumsum(new) - 1
    return found


@dataclass(frozen=True)
class Course:
    """The values of an object in the intervals of its queue manager.

    Only some values are stored, because most objects have values in only a few intervals.

    blank   value of each interval without a stored value: 0 or NaN; shared by all objects
    cells   indexes of the intervals with a stored value
    own     stored values, by index in `cells`
    amount  sum of the amounts
    per     divisor of the amount
    whole   sum of the amounts over all rows, also outside intervals
    """

    object: str
    blank: Floats
    cells: Ints
    own: Floats
    amount: float
    per: float
    whole: float

    @property
    def values(self) -> Floats:
        """The value of each interval; NaN: no value."""
        found = self.blank.copy()
        found[self.cells] = self.own
        return found

    @property
    def highest(self) -> float:
        """The greatest absolute value."""
        return float(np.abs(self.own).max(initial=0))

    @property
    def is_zero(self) -> bool:
        """Whether every value is 0 or missing."""
        return not self.own.any()

    @property
    def average(self) -> float:
        """The value over the whole time; NaN: no value."""
        return self.amount / self.per if self.per else float("nan")


@dataclass(frozen=True)
class Courses:
    """The courses of a panel for a queue manager; the object with the worst values is first."""

    panel: Panel
    several: Sequence[Course]

    @property
    def all_zero(self) -> bool:
        """Whether every value is 0 or missing; False if low values are the worst (TROUGH)."""
        return self.panel.measure != TROUGH and all(each.is_zero for each in self.several)

    @cached_property
    def by_object(self) -> Mapping[str, Course]:
        """The course of each object."""
        return {each.object: each for each in self.several}


_ORDERS: Mapping[str, Callable[[Course], float]] = {
    "average": lambda each: -each.amount,
    "total": lambda each: -each.amount,
    "peak": lambda each: -float(each.own.max()),
    TROUGH: lambda each: float(each.own.min()),
}
"""Sort keys by measure; the course with the lowest key comes first."""


def courses(rows: pa.Table, axes: Mapping[Manager, Axis]) -> dict[Manager, dict[str, Courses]]:
    """Return the courses of each queue manager, by panel.

    rows  rows of all panels, in any order
    """
    found: dict[Manager, dict[str, Courses]] = {each: {} for each in axes}
    spreads = [
        (panels()[name], manager, each, spread(axes[manager], each))
        for name, manager, each in rows_of(rows, "panel")
        if manager in axes
    ]
    covered = _covered(spreads, axes)
    spreads.reverse()
    while spreads:  # pop, so that memory is freed
        panel, manager, its_rows, parts = spreads.pop()
        axis, order = axes[manager], _ORDERS[panel.measure]
        several = [
            course
            for some, its in blocks(its_rows, parts, max(_SUMS // len(axis.starts), 1))
            for course in _of_objects(panel, axis, some, its, covered[manager, panel.trace])
        ]
        if several:
            several.sort(key=lambda each: (order(each), each.object))
            found[manager][panel.name] = Courses(panel, several)
    return found


def _covered(
    spreads: Sequence[tuple[Panel, Manager, Rows, Spread]], axes: Mapping[Manager, Axis]
) -> dict[tuple[Manager, str], Bools]:
    """Return, by trace, whether an interval has rows of any panel: totals are then 0, not NaN."""
    found: dict[tuple[Manager, str], Bools] = {}
    for panel, manager, _, parts in spreads:
        key, size = (manager, panel.trace), len(axes[manager].starts)
        none = np.zeros(size, bool)
        found[key] = found.get(key, none) | (np.bincount(parts.cells, minlength=size) > 0)
    return found


def _of_objects(
    panel: Panel, axis: Axis, rows: Rows, parts: Spread, is_on: Bools
) -> Iterator[Course]:
    amounts, pers, filled, wholes = summed(axis, rows, parts, panel.measure)
    held, blank = filled, np.full(len(axis.starts), np.nan)
    if panel.measure == "total":
        values, held = amounts / axis.seconds, amounts != 0
        blank = np.where(is_on, 0.0, np.nan)
        pers = np.tile(axis.seconds * is_on, (len(rows.objects), 1))
    elif panel.measure == "average":
        held = pers > 0
        values = amounts / np.where(held, pers, 1)
    else:
        values, amounts = amounts, np.where(filled, amounts, 0)
    for at, name in enumerate(rows.objects):
        cells = np.flatnonzero(held[at])
        if len(cells) or not np.isnan(blank).all():
            sums = (float(each) for each in (amounts[at].sum(), pers[at].sum(), wholes[at]))
            yield Course(name, blank, cells, values[at][cells], *sums)


@dataclass(frozen=True)
class Thinned:
    """Groups of intervals, for charts with fewer points: mean, lowest and highest of each group.

    axis   the groups as intervals
    group  group number of each original interval
    """

    axis: Axis
    group: Ints

    @classmethod
    def of(cls, axis: Axis, most: int) -> Thinned:
        """Combine the intervals of an axis into about `most` groups."""
        group = groups(axis, most)
        first = np.flatnonzero(np.r_[True, np.diff(group) > 0])
        last = np.r_[first[1:], len(group)] - 1
        return cls(Axis(axis.starts[first], axis.ends[last], axis.after_gap[first]), group)

    @property
    def is_thinner(self) -> bool:
        """Whether intervals were combined."""
        return len(self.axis.starts) < len(self.group)

    def means(self, values: Floats, seconds: Floats) -> Floats:
        """Return the mean of the known values of each group, weighted by time."""
        weights = np.where(np.isnan(values), 0, seconds)
        size = len(self.axis.starts)
        sums = np.bincount(self.group, np.nan_to_num(values) * weights, size)
        lengths = np.bincount(self.group, weights, size)
        there = lengths > 0
        found: Floats = np.where(there, sums / np.where(there, lengths, 1), np.nan)
        return found

    def extremes(self, values: Floats) -> tuple[Floats, Floats]:
        """Return the lowest and the highest value of each group; NaN: no value."""
        first = np.flatnonzero(np.r_[True, np.diff(self.group) > 0])
        low = np.fmin.reduceat(values, first)
        high = np.fmax.reduceat(values, first)
        return low, high
