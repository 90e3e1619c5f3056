"""Courses: what each object of a panel was in each interval of its queue manager.

Rows of any length are spread over these intervals by the time that they have in common.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from smfparse.calendar import SECOND_US
from smfparse.dashboard.declaration import TROUGH, Panel, panels
from smfparse.summarizing import Times

if TYPE_CHECKING:
    import pyarrow as pa

Numbers: TypeAlias = NDArray[np.float64]
Counts: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]
Manager: TypeAlias = tuple[str, str]
"""System and queue manager."""
MOST_POINTS = 1500
"""Points of a course that are drawn; of more, the means, and the lowest and highest values."""
_NUMBERS = ("per", "amount", "seconds", "start")
"""Columns of numbers: the last one is what rows that are alike are ordered by first."""
_TEXTS = ("panel", "system", "qmgr", "object")
"""Columns of texts: the first one is what rows are ordered by first."""
_EXTREMES: Mapping[str, tuple[float, np.ufunc]] = {
    "peak": (-np.inf, np.maximum),
    TROUGH: (np.inf, np.minimum),
}
_LEAK = 0.02
"""A share of an interval that is no more than the difference of two clocks."""


class Axis(NamedTuple):
    """Intervals in the order of time, microseconds UTC, that do not overlap.

    after_gap  which of them begin later than the one before them ends
    """

    starts: Counts
    ends: Counts
    after_gap: Flags

    @property
    def seconds(self) -> Numbers:
        """How long each interval is."""
        found: Numbers = (self.ends - self.starts) / SECOND_US
        return found


class Spread(NamedTuple):
    """Which rows are in which intervals, and with which share of the row."""

    rows: Counts
    cells: Counts
    shares: Numbers


def axis_of(times: Times) -> Axis:
    """Return the intervals of a queue manager's calendar; without any, parts of its time."""
    calendar = times.calendar
    if not calendar.is_recorded:
        return Axis(times.starts, times.starts + times.slot, np.zeros(times.slots, bool))
    kept: list[tuple[int, int, bool]] = []
    found = zip(calendar.starts.tolist(), calendar.ends.tolist(), calendar.gaps > 0, strict=True)
    for start, end, after_gap in found:
        follows = not kept or (start + end) // 2 > kept[-1][1]
        if start >= times.first and end > start and follows:
            kept.append((max(start, kept[-1][1]) if kept else start, end, bool(after_gap)))
    starts, ends, gaps = (np.array(each) for each in zip(*kept, strict=True))
    return Axis(starts, ends, gaps)


def spread(axis: Axis, starts: Counts, seconds: Numbers) -> Spread:
    """Return how rows are spread over intervals: by the time that they have in common.

    A row of no length is in the interval that it is in. What is outside of all is left out.
    """
    ends = starts + np.maximum(seconds * SECOND_US, 1).astype(np.int64)
    first = np.searchsorted(axis.ends, starts, "right")
    counts = np.maximum(np.searchsorted(axis.starts, ends, "left") - first, 0)
    rows = np.repeat(np.arange(len(starts)), counts)
    cells = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts) + first[rows]
    common = np.minimum(ends[rows], axis.ends[cells]) - np.maximum(starts[rows], axis.starts[cells])
    shares = common / (ends - starts)[rows]
    is_leak = (shares < _LEAK) & (common < _LEAK * (axis.ends - axis.starts)[cells])
    shares = np.where(shares > 1 - _LEAK, 1.0, shares)
    return Spread(rows[~is_leak], cells[~is_leak], shares[~is_leak])


def groups(axis: Axis, most: int) -> Counts:
    """Return the number of the group of each interval: no more than about `most` groups.

    A group has intervals that follow one another without a gap.
    """
    size = -(-len(axis.starts) // most)
    gaps = axis.after_gap
    run = np.cumsum(gaps)
    begins = np.flatnonzero(np.r_[True, gaps[1:]])
    within = np.arange(len(run)) - begins[run]
    new = np.r_[True, gaps[1:] | (within[1:] % size == 0)]
    found: Counts = np.cumsum(new) - 1
    return found


@dataclass(frozen=True)
class Course:
    """What an object was over time: a value for each interval, NaN where there is no data.

    amount, per  the sums that a figure over all of the time is made of
    """

    object: str
    values: Numbers
    amount: float
    per: float

    @property
    def is_zero(self) -> bool:
        """Whether it never was more than 0."""
        return not np.nan_to_num(self.values).any()

    @property
    def average(self) -> float:
        """The figure over all of the time; NaN: there is none."""
        return self.amount / self.per if self.per else float("nan")


@dataclass(frozen=True)
class Courses:
    """The courses of a panel of a queue manager, the worst or highest object first."""

    panel: Panel
    several: Sequence[Course]

    @property
    def all_zero(self) -> bool:
        """Whether nothing was ever more than 0, of a figure of which 0 is not the worst."""
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
"""What comes first, by measure."""


def courses(rows: pa.Table, axes: Mapping[Manager, Axis]) -> dict[Manager, dict[str, Courses]]:
    """Return the courses of each queue manager, by panel.

    rows  of all panels, in any order
    """
    columns, texts = _ordered(rows)
    found: dict[Manager, dict[str, Courses]] = {each: {} for each in axes}
    sums = [
        (panels()[name], of, _summed(panels()[name], axes[of], columns, part, texts))
        for (name, system, qmgr), part in _parts(columns, texts, ("panel", "system", "qmgr"))
        if (of := (system, qmgr)) in axes
    ]
    covered = _covered(sums, axes)
    sums.reverse()
    while sums:  # memory holds the sums of a panel, or its courses
        panel, manager, of_panel = sums.pop()
        is_on = covered[manager, panel.trace]
        if several := _of_objects(panel, axes[manager], of_panel, is_on):
            found[manager][panel.name] = Courses(panel, several)
    return found


_Sums: TypeAlias = tuple[Sequence[str], Numbers, Numbers, Flags]
"""Objects, and of each in each interval: amount, what it is per, and whether it has rows."""


def _ordered(rows: pa.Table) -> tuple[dict[str, Numbers], dict[str, list[str]]]:
    """Return the columns of rows in order, texts by their numbers, and the texts of each column.

    The order is one of numbers, because to compare as many texts takes longer than all the rest.
    """
    columns = {name: rows[name].to_numpy() for name in _NUMBERS}
    texts = {}
    key = np.zeros(rows.num_rows, np.int64)
    for name in _TEXTS:
        coded = rows[name].combine_chunks().dictionary_encode()
        words = coded.dictionary.to_pylist()
        texts[name] = sorted(words)
        places = {word: place for place, word in enumerate(texts[name])}
        severities = np.array([places[word] for word in words], np.int64)
        columns[name] = severities[coded.indices.to_numpy()]
        key = key * len(words) + columns[name]
    order = np.lexsort([*(columns[name] for name in _NUMBERS), key])
    return {name: each[order] for name, each in columns.items()}, texts


def _parts(
    columns: Mapping[str, Numbers], texts: Mapping[str, Sequence[str]], names: Sequence[str]
) -> Iterator[tuple[tuple[str, ...], slice]]:
    """Yield the texts of stretches of rows that are alike in some columns, and these stretches."""
    keys = [columns[name] for name in names]
    if not len(keys[0]):
        return
    new = np.r_[True, np.any([each[1:] != each[:-1] for each in keys], axis=0)]
    bounds = [*np.flatnonzero(new).tolist(), len(new)]
    for begin, end in pairwise(bounds):
        found = (texts[name][each[begin]] for name, each in zip(names, keys, strict=True))
        yield tuple(found), slice(begin, end)


def _summed(
    panel: Panel,
    axis: Axis,
    columns: Mapping[str, Numbers],
    part: slice,
    texts: Mapping[str, Sequence[str]],
) -> _Sums:
    """Return the sums of a panel's rows of one queue manager; of peaks the greatest."""
    own = {name: each[part] for name, each in columns.items()}
    names = [name for (name,), _ in _parts(own, texts, ("object",))]
    numbers = np.cumsum(np.r_[False, own["object"][1:] != own["object"][:-1]])
    spreads = spread(axis, own["start"].astype(np.int64), own["seconds"])
    size = len(axis.starts)
    places = numbers[spreads.rows] * size + spreads.cells

    def added(values: Numbers) -> Numbers:
        sums = np.bincount(places, values, len(names) * size).astype(np.float64)
        return sums.reshape((len(names), size))

    amount, per = own["amount"][spreads.rows], own["per"][spreads.rows]
    filled = added(np.ones(len(places))) > 0
    if panel.measure in _EXTREMES:
        start, of_two = _EXTREMES[panel.measure]
        best = np.full(len(names) * size, start)
        of_two.at(best, places, amount)
        return names, best.reshape(filled.shape), filled.astype(np.float64), filled
    return names, added(amount * spreads.shares), added(per * spreads.shares), filled


def _covered(
    sums: Sequence[tuple[Panel, Manager, _Sums]], axes: Mapping[Manager, Axis]
) -> dict[tuple[Manager, str], Flags]:
    """Return the intervals in which any panel of a trace has rows: there a total is 0."""
    found: dict[tuple[Manager, str], Flags] = {}
    for panel, manager, (*_, filled) in sums:
        key = manager, panel.trace
        none = np.zeros(len(axes[manager].starts), bool)
        found[key] = found.get(key, none) | filled.any(axis=0)
    return found


def _of_objects(panel: Panel, axis: Axis, sums: _Sums, is_on: Flags) -> list[Course]:
    """Return the courses of a panel's objects, in their order."""
    names, amounts, pers, filled = sums
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
        Course(name, of_one, float(amount), float(per))
        for name, of_one, amount, per in zip(
            names, values, amounts.sum(axis=1), pers.sum(axis=1), strict=True
        )
        if not np.isnan(of_one).all()
    ]
    order = _ORDERS[panel.measure]
    return sorted(several, key=lambda each: (order(each), each.object))


@dataclass(frozen=True)
class Thinned:
    """Courses with fewer intervals: the mean of each group of them, and the lowest and highest."""

    axis: Axis
    group: Counts

    @classmethod
    def of(cls, axis: Axis, most: int) -> Thinned:
        """Put the intervals of an axis together, so that there are about `most`."""
        group = groups(axis, most)
        first = np.flatnonzero(np.r_[True, np.diff(group) > 0])
        last = np.r_[first[1:], len(group)] - 1
        return cls(Axis(axis.starts[first], axis.ends[last], axis.after_gap[first]), group)

    @property
    def is_thinner(self) -> bool:
        """Whether there are fewer than there were."""
        return len(self.axis.starts) < len(self.group)

    def means(self, values: Numbers, seconds: Numbers) -> Numbers:
        """Return the mean of each group, by time, of what is known."""
        weights = np.where(np.isnan(values), 0, seconds)
        size = len(self.axis.starts)
        sums = np.bincount(self.group, np.nan_to_num(values) * weights, size)
        lengths = np.bincount(self.group, weights, size)
        there = lengths > 0
        found: Numbers = np.where(there, sums / np.where(there, lengths, 1), np.nan)
        return found

    def extremes(self, values: Numbers) -> tuple[Numbers, Numbers]:
        """Return the lowest and the highest value of each group; NaN: there is none."""
        first = np.flatnonzero(np.r_[True, np.diff(self.group) > 0])
        low = np.fmin.reduceat(values, first)
        high = np.fmax.reduceat(values, first)
        return low, high
