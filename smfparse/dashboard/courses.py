"""Courses: the value of each object of a panel in each interval of its queue manager."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from smfparse.dashboard.declaration import TROUGH, Panel, panels
from smfparse.summarizing.figures import Times
from smfparse.summarizing.spreading import Axis, Manager, Rows, Sums, rows_of, spread, summed
from smfparse.vectors import Bools, Floats, Ints

if TYPE_CHECKING:
    import pyarrow as pa

MOST_POINTS = 1500
"""Points of a course in a chart; more are combined into mean, lowest and highest values."""


def axis_of(times: Times) -> Axis:
    """Return the intervals of a queue manager's calendar; if it has none, parts of its time."""
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
    """Return the group number of each interval, for about `most` groups at most.

    A group has consecutive intervals without a gap.
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
    """The values of an object over time: one for each interval, NaN without data.

    amount, per  sums over the whole time; their quotient is the average
    whole        the amount of its rows, with their parts before and after this time
    """

    object: str
    values: Floats
    amount: float
    per: float
    whole: float

    @property
    def is_zero(self) -> bool:
        """Whether every value is 0 or missing."""
        return not np.nan_to_num(self.values).any()

    @property
    def average(self) -> float:
        """The figure over the whole time; NaN: no value."""
        return self.amount / self.per if self.per else float("nan")


@dataclass(frozen=True)
class Courses:
    """The courses of a panel of a queue manager, the worst or highest object first."""

    panel: Panel
    several: Sequence[Course]

    @property
    def all_zero(self) -> bool:
        """Whether every value is 0 or missing, in a panel for which 0 is not the worst value."""
        return self.panel.measure != TROUGH and all(each.is_zero for each in self.several)

    @cached_property
    def by_object(self) -> Mapping[str, Course]:
        """The course of each object."""
        return {each.object: each for each in self.several}


_ORDERS: Mapping[str, Callable[[Course], float]] = {
    "average": lambda each: -each.amount,
    "total": lambda each: -each.amount,
    "peak": lambda each: -float(np.nanmax(each.values)),
    TROUGH: lambda each: float(np.nanmin(each.values)),
}
"""Sort keys by measure; the course with the lowest comes first."""


def courses(rows: pa.Table, axes: Mapping[Manager, Axis]) -> dict[Manager, dict[str, Courses]]:
    """Return the courses of each queue manager, by panel.

    rows  of all panels, in any order
    """
    found: dict[Manager, dict[str, Courses]] = {each: {} for each in axes}
    sums = [
        (panels()[name], manager, each.objects, _summed(panels()[name], axes[manager], each))
        for name, manager, each in rows_of(rows, "panel")
        if manager in axes
    ]
    covered = _covered(sums, axes)
    sums.reverse()
    while sums:  # memory holds the sums of a panel, or its courses
        panel, manager, names, of_panel = sums.pop()
        is_on = covered[manager, panel.trace]
        if several := _of_objects(panel, axes[manager], names, of_panel, is_on):
            found[manager][panel.name] = Courses(panel, several)
    return found


def _summed(panel: Panel, axis: Axis, rows: Rows) -> Sums:
    return summed(axis, rows, spread(axis, rows), panel.measure)


def _covered(
    sums: Sequence[tuple[Panel, Manager, Sequence[str], Sums]], axes: Mapping[Manager, Axis]
) -> dict[tuple[Manager, str], Bools]:
    """Return the intervals in which any panel of a trace has rows; other totals are 0 there."""
    found: dict[tuple[Manager, str], Bools] = {}
    for panel, manager, _, each in sums:
        key = manager, panel.trace
        none = np.zeros(len(axes[manager].starts), bool)
        found[key] = found.get(key, none) | each.filled.any(axis=0)
    return found


def _of_objects(
    panel: Panel, axis: Axis, names: Sequence[str], sums: Sums, is_on: Bools
) -> list[Course]:
    """Return the courses of a panel's objects, in their order."""
    amounts, pers, filled, wholes = sums
    if panel.measure == "total":
        values = np.where(is_on, amounts / axis.seconds, np.nan)
        pers = np.tile(axis.seconds * is_on, (len(names), 1))
    elif panel.measure == "average":
        there = pers > 0
        values = np.where(there, amounts / np.where(there, pers, 1), np.nan)
    else:
        values = np.where(filled, amounts, np.nan)
        amounts = np.where(filled, amounts, 0)
    several = [
        Course(name, of_one, float(amount), float(per), float(whole))
        for name, of_one, amount, per, whole in zip(
            names, values, amounts.sum(axis=1), pers.sum(axis=1), wholes, strict=True
        )
        if not np.isnan(of_one).all()
    ]
    order = _ORDERS[panel.measure]
    return sorted(several, key=lambda each: (order(each), each.object))


@dataclass(frozen=True)
class Thinned:
    """Courses with fewer intervals: mean, lowest and highest value of each group of intervals."""

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
