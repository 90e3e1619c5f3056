"""Trends: the last day of each queue manager in a catalog, compared with similar earlier days.

A slot is one hour of local time. The usual range and significant growth of a figure come from
robust statistics over days.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from smfparse.metrics.calendar import SECOND_US
from smfparse.summarizing.figures import (
    Figures,
    HeldLine,
    Times,
    figures_of,
    held_lines,
    held_times,
    hold,
    line_queries,
    lines,
)
from smfparse.summarizing.spreading import Manager

if TYPE_CHECKING:
    from smfparse.query.catalog import Catalog

CHANCE = 0.05
"""Maximum probability by chance of significant growth."""
_SPREAD = 3 * 1.4826
"""Ratio of three standard deviations to the median absolute deviation."""
_FEW = 4
"""With this number of values, the usual range is twice as wide as with infinitely many."""
_LEAST = 0.1
"""Minimum difference of an unusual value from the median, as a share of the median."""


def usual_range(values: Sequence[float], least: float = 0.0) -> tuple[float, float]:
    """Return low and high end of the usual range around the median; few values widen it.

    least  minimum difference of an unusual value from the median
    """
    middle = median(values)
    deviation = median(abs(each - middle) for each in values)
    spread = _SPREAD * (1 + _FEW / len(values)) * deviation
    around = max(spread, _LEAST * abs(middle), least)
    return max(middle - around, 0.0), middle + around


def growth(seasons: Sequence[Mapping[int, float]]) -> tuple[float, float] | None:
    """Return the growth per day (Theil-Sen), and its probability by chance (Kendall).

    seasons  values by day, for each group of similar days, such as Mondays; only days of the same
             group are compared. None is returned if no group has two days
    """
    slopes: list[float] = []
    score, variance = 0, 0.0
    for season in seasons:
        pairs = list(combinations(sorted(season.items()), 2))
        slopes += [(late - early) / (last - first) for (first, early), (last, late) in pairs]
        score += sum((late > early) - (late < early) for (_, early), (_, late) in pairs)
        count = len(season)
        variance += count * (count - 1) * (2 * count + 5) / 18
    if not slopes:
        return None
    certain = max(abs(score) - 1, 0) / math.sqrt(variance)
    return median(slopes), math.erfc(certain / math.sqrt(2))


_HOUR_US = 3600 * SECOND_US
_FIRST_WEEKEND_DAY = 5


@dataclass(frozen=True)
class Calendar:
    """The slots of a queue manager by day and hour of the clock, up to the last day.

    A day is the number of a date (`date.toordinal`). The last day contains the middle of the last
    interval, so an interval that continues after midnight does not start another day. When clocks
    go back, one hour has two slots; when they go forward, one hour has no slot.
    """

    times: Times
    days: Mapping[int, Mapping[int, Sequence[int]]]
    last: int

    @classmethod
    def of(cls, times: Times) -> Calendar:
        """Return the calendar of times that `by_hour` returned."""
        last = times.local(times.latest).toordinal()
        days: dict[int, dict[int, list[int]]] = {last: {}}
        for slot in range(times.slots):
            local = times.local(times.first + slot * _HOUR_US)
            if (day := local.toordinal()) <= last:
                days.setdefault(day, {}).setdefault(local.hour, []).append(slot)
        return cls(times, days, last)

    def slots(self, day: int, hours: Collection[int]) -> list[int]:
        """Return the numbers of the slots of some hours of a day, also of slots without data."""
        found = self.days.get(day, {})
        return [slot for hour in hours for slot in found.get(hour, ())]

    def hours(self, day: int, there: Collection[int]) -> list[int]:
        """Return the hours of a day with at least one of the slots in `there`."""
        return sorted(
            hour
            for hour, slots in self.days.get(day, {}).items()
            if any(slot in there for slot in slots)
        )

    def day_of(self) -> dict[int, int]:
        """Return the day of each slot."""
        return {
            slot: day
            for day, hours in self.days.items()
            for slots in hours.values()
            for slot in slots
        }

    def length(self, day: int) -> int:
        """Return the number of clock hours of a day: 23 if clocks go forward on this day."""
        begin, end = (
            self.times.clock.moment(_midnight(dt.datetime.fromordinal(each)))
            for each in (day, day + 1)
        )
        return len({self.times.local(at).hour for at in range(begin, end, _HOUR_US)})


def by_hour(times: Times) -> Times:
    """Return times that begin at the first midnight before the data, with slots of one hour."""
    first = times.clock.moment(_midnight(times.local(times.first)))
    slots = -(-(times.last - first) // _HOUR_US)
    return replace(times, first=first, last=first + slots * _HOUR_US, slots=slots)


def at_weekend(day: int) -> bool:
    """Whether a day is a Saturday or a Sunday."""
    return dt.date.fromordinal(day).weekday() >= _FIRST_WEEKEND_DAY


def _midnight(local: dt.datetime) -> dt.datetime:
    return dt.datetime.combine(local, dt.time())


LEAST_DAYS = 3
"""Minimum number of similar days for a comparison with the last day."""
_HOURS = 24
_COVERED = 0.75
"""Another day is compared if it has data in at least this share of the last day's hours."""
_OFTEN = 0.5
"""A name that is missing on the last day is gone if it occurs on this share of similar days."""
_OBJECTS_WITH_LIMIT = 50
_LEAST_OF_LIMIT = 0.01
_LEAST_COUNT = 10
"""Minimum difference of an unusual count, such as messages, from the median."""
_WEEK = 7


@dataclass(frozen=True)
class Course:
    """A figure of an object on the last day, compared with similar days.

    usual      usual range of the figure over a day; None: too few similar days
    last       the figure over the last day
    hours      by hour of the last day with an unusual value: whether it is above the usual range
    per_week   growth per week; None: not significant
    days_left  days until the figure reaches its limit with this growth; None: never
    """

    figures: Figures
    usual: tuple[float, float] | None
    last: float
    hours: Mapping[int, bool]
    per_week: float | None = None
    days_left: float | None = None


@dataclass(frozen=True)
class Trend:
    """The trends of a queue manager.

    times       times of the queue manager
    days        number of days with enough data for a comparison, including the last day
    last        date of the last day
    hours       hours of the last day with data
    length      number of clock hours of the last day
    comparable  earlier days similar to the last day; fewer than LEAST_DAYS: only growth is shown
    weekday     whether similar days have the same weekday; otherwise, all working days are similar
                to each other, and all weekend days
    new         by kind: names that occur on the last day, but on no earlier day
    gone        by kind: names that occur on many similar days, but not on the last day
    """

    times: Times
    days: int
    last: dt.date
    hours: Sequence[int]
    length: int
    comparable: Sequence[dt.date]
    weekday: bool
    courses: Sequence[Course] = ()
    new: Mapping[str, Sequence[str]] | None = None
    gone: Mapping[str, Sequence[str]] | None = None


def trended(catalog: Catalog) -> list[Trend]:
    """Return the trends of each queue manager. SMF files are read once."""
    hold(catalog, line_queries(catalog))
    times = [by_hour(each) for each in held_times(catalog)]
    tops = {
        name: _OBJECTS_WITH_LIMIT for name, line in lines().items() if not math.isnan(line.limit)
    }
    several = [*held_lines(catalog)]
    figures = figures_of(several, times, tops)
    names = _names(several, times)
    return [_trend(each, figures.get(each.key, []), names.get(each.key, {})) for each in times]


def _trend(
    times: Times, figures: Sequence[Figures], names: Mapping[str, Mapping[str, set[int]]]
) -> Trend:
    calendar = Calendar.of(times)
    there = frozenset(slot for each in figures for slot in np.flatnonzero(each.pers).tolist())
    hours = calendar.hours(calendar.last, there)
    enough = max(_COVERED * len(hours), 1)
    whole = [
        day
        for day in sorted(calendar.days)
        if day < calendar.last and len({*calendar.hours(day, there)} & {*hours}) >= enough
    ]
    alike, weekday = _alike(whole, calendar.last)
    found = Trend(
        times,
        len(whole) + 1,
        dt.date.fromordinal(calendar.last),
        hours,
        calendar.length(calendar.last),
        [dt.date.fromordinal(day) for day in alike],
        weekday,
    )
    days = _Days(calendar, hours, alike, _seasons([*whole, calendar.last], weekday=weekday))
    courses = tuple(course for each in figures if (course := _course(each, days)))
    if len(alike) < LEAST_DAYS:
        return replace(found, courses=courses)
    new, gone = changed_names(_dated(names, calendar), alike, calendar.last)
    return replace(found, courses=courses, new=new, gone=gone)


def _alike(days: Sequence[int], last: int) -> tuple[list[int], bool]:
    """Return the days similar to the last day, and whether they are days of the same weekday.

    If fewer than LEAST_DAYS days have the same weekday, all working days count as similar to each
    other, and so do all weekend days.
    """
    same = [day for day in days if (last - day) % _WEEK == 0]
    if len(same) >= LEAST_DAYS:
        return same, True
    return [day for day in days if at_weekend(day) == at_weekend(last)], False


def _seasons(days: Sequence[int], *, weekday: bool) -> list[list[int]]:
    found: dict[int, list[int]] = {}
    for day in days:
        kind = day % _WEEK if weekday else int(at_weekend(day))
        found.setdefault(kind, []).append(day)
    return [*found.values()]


@dataclass(frozen=True)
class _Days:
    """The days whose figures are compared.

    hours    hours of the last day with data; other hours of any day are not compared
    alike    earlier days that are similar to the last day
    seasons  all days, in groups of similar days
    """

    calendar: Calendar
    hours: Sequence[int]
    alike: Sequence[int]
    seasons: Sequence[Sequence[int]]

    def figure(self, figures: Figures, day: int, hours: Sequence[int]) -> float | None:
        """Return a figure over some hours of a day; None: the hours contain no data."""
        return figures.of(self.calendar.slots(day, hours))


def _course(figures: Figures, days: _Days) -> Course | None:
    """Return the course of a figure; None: no value on the last day, or no usual range or growth.

    A usual range requires LEAST_DAYS similar days with data.
    """
    by_day = {
        day: value
        for season in days.seasons
        for day in season
        if (value := days.figure(figures, day, days.hours)) is not None
    }
    last = days.calendar.last
    before = [by_day[day] for day in days.alike if day in by_day]
    if last not in by_day:
        return None
    grown = growth([{day: by_day[day] for day in some if day in by_day} for some in days.seasons])
    per_day = grown[0] if grown and grown[1] < CHANCE else None
    usual = usual_range(before, _least(figures)) if len(before) >= LEAST_DAYS else None
    if usual is None and per_day is None:
        return None
    found = Course(figures, usual, by_day[last], dict(_unusual(figures, days)))
    if per_day is None:
        return found
    left = _days_left(figures, days.calendar, per_day)
    return replace(found, per_week=per_day * _WEEK, days_left=left)


def _least(figures: Figures) -> float:
    """Return the minimum difference of an unusual figure from the median."""
    if math.isnan(figures.line.limit):
        return _LEAST_COUNT if figures.line.style == "grouped" else 0.0
    return figures.line.limit * _LEAST_OF_LIMIT


def _unusual(figures: Figures, days: _Days) -> Iterator[tuple[int, bool]]:
    """Yield each hour of the last day with an unusual figure, and whether the figure is high."""
    for hour in days.hours:
        now = days.figure(figures, days.calendar.last, [hour])
        found = (days.figure(figures, day, [hour]) for day in days.alike)
        before = [each for each in found if each is not None]
        if now is None or len(before) < LEAST_DAYS:
            continue
        low, high = usual_range(before, _least(figures))
        if not low <= now <= high:
            yield hour, now > high


def _days_left(figures: Figures, calendar: Calendar, per_day: float) -> float | None:
    limit = figures.line.limit
    if per_day <= 0 or math.isnan(limit):
        return None
    of_week = range(calendar.last - _WEEK + 1, calendar.last + 1)
    slots = (slot for day in of_week for slot in calendar.slots(day, range(_HOURS)))
    highest = max(value for slot in slots if (value := figures.of([slot])) is not None)
    return max(limit - highest, 0.0) / per_day


def _names(
    several: Sequence[HeldLine], times: Sequence[Times]
) -> dict[Manager, dict[str, dict[str, set[int]]]]:
    """Return the slots in which names occur, by queue manager, kind and name."""
    whose = {each.key: each for each in times}
    found: dict[Manager, dict[str, dict[str, set[int]]]] = {}
    for line, key, rows in several:
        if line.names and key in whose:
            middles = (rows.starts + rows.ends) // 2 - whose[key].first
            names = found.setdefault(key, {}).setdefault(line.names, {})
            for of, slot in zip(
                rows.of.tolist(), (middles // whose[key].slot).tolist(), strict=True
            ):
                if name := rows.objects[of]:
                    names.setdefault(name, set()).add(slot)
    return found


def _dated(
    names: Mapping[str, Mapping[str, set[int]]], calendar: Calendar
) -> dict[str, dict[str, set[int]]]:
    days = calendar.day_of()
    return {
        kind: {name: {days[slot] for slot in slots if slot in days} for name, slots in some.items()}
        for kind, some in names.items()
    }


def changed_names(
    names: Mapping[str, Mapping[str, set[int]]], alike: Sequence[int], last: int
) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return the names that are new on the last day, and the names that are gone, by kind."""
    new, gone = {}, {}
    often = _OFTEN * len(alike)
    for kind, found in names.items():
        new[kind] = sorted(each for each, days in found.items() if min(days, default=0) == last)
        gone[kind] = sorted(
            each
            for each, days in found.items()
            if last not in days and len(days.intersection(alike)) >= often
        )
    return new, gone
