"""From a catalog to trends: the last day of each queue manager against those like it."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from smfparse.advice import SECOND_US, held_rows
from smfparse.summarizing import Figures, Times, held_figures, held_times, line_queries, lines
from smfparse.trending.statistics import CHANCE, growth, usual_range

if TYPE_CHECKING:
    from smfparse.query import Catalog

LEAST_DAYS = 3
"""Days that are comparable with the last one, at least."""
_HOURS = 24
_HOUR_US = 3600 * SECOND_US
_DAY_US = _HOURS * _HOUR_US
_COVERED = 0.75
"""Share of the last day's hours that a day has, at least, to be compared with it."""
_OFTEN = 0.5
"""Share of the days on which a name was there that is said to be gone."""
_OBJECTS_WITH_LIMIT = 50
_LEAST_OF_LIMIT = 0.01
_LEAST_COUNT = 10
"""Messages, or seconds of age, by which a queue differs at least that is not as usual."""
_FIRST_WEEKEND_DAY = 5
_WEEK = 7
_NAMES = """
SELECT DISTINCT line, system, qmgr, object, ((epoch_us(start) - first_us) // {day})::INT AS day
FROM summary_rows
JOIN summary_slots USING (system, qmgr)
WHERE line IN ({lines}) AND object <> ''
"""


@dataclass(frozen=True)
class Course:
    """A figure of an object on the last day, against the days like it.

    usual      between what it usually is over the day
    last       over the last day
    hours      hours of the last day in which it is above (True) or below what is usual for them
    per_week   growth a week; None: none that is more than chance
    days_left  until it is at its limit, if it grows on; None: it does not
    """

    figures: Figures
    usual: tuple[float, float]
    last: float
    hours: Mapping[int, bool]
    per_week: float | None = None
    days_left: float | None = None


@dataclass(frozen=True)
class Trend:
    """What a queue manager's days show.

    comparable  days like the last one, before it; fewer than LEAST_DAYS: nothing is compared
    weekday     whether these are of its weekday, not only working days or weekends as it is
    new, gone   names by what they are, on the last day and on no day before; and the other way
    """

    times: Times
    days: int
    last: dt.date
    comparable: Sequence[dt.date]
    weekday: bool
    courses: Sequence[Course] = ()
    new: Mapping[str, Sequence[str]] | None = None
    gone: Mapping[str, Sequence[str]] | None = None


def trended(catalog: Catalog) -> list[Trend]:
    """Compare the last day of each queue manager with those like it; SMF files are read once."""
    queries = line_queries(catalog)
    for name, table in zip(queries, catalog.arrows([*queries.values()]), strict=True):
        catalog.connection.register(name, table)
    times = [_by_hour(each) for each in held_times(catalog)]
    tops = {
        name: _OBJECTS_WITH_LIMIT for name, line in lines().items() if not math.isnan(line.limit)
    }
    figures = held_figures(catalog, times, tops)
    names = _names(catalog)
    return [_trend(each, figures.get(each.key, []), names.get(each.key, {})) for each in times]


def _by_hour(times: Times) -> Times:
    """Return times from the midnight of their first day on, in slots of an hour."""
    first = times.first - (times.first + times.offset * SECOND_US) % _DAY_US
    slots = -(-(times.last - first) // _HOUR_US)
    return replace(times, first=first, last=first + slots * _HOUR_US, slots=slots)


def _trend(
    times: Times, figures: Sequence[Figures], names: Mapping[str, Mapping[str, set[int]]]
) -> Trend:
    last = (times.slots - 1) // _HOURS
    hours = frozenset(slot % _HOURS for slot in _slots(figures) if slot // _HOURS == last)
    whole = [day for day in range(last) if _is_covered(day, hours, _slots(figures))]
    dates = {
        day: (times.local(times.first) + dt.timedelta(days=day)).date() for day in (*whole, last)
    }
    alike, weekday = _alike(whole, dates, last)
    found = Trend(times, len(whole) + 1, dates[last], [dates[day] for day in alike], weekday)
    if len(alike) < LEAST_DAYS:
        return found
    seasons = _seasons([*whole, last], dates, weekday=weekday)
    courses = (_course(each, alike, last, hours, seasons) for each in figures)
    new, gone = changed_names(names, alike, last)
    return replace(found, courses=[each for each in courses if each], new=new, gone=gone)


def _slots(figures: Sequence[Figures]) -> frozenset[int]:
    return frozenset(slot for each in figures for slot in each.slots)


def _is_covered(day: int, hours: frozenset[int], slots: frozenset[int]) -> bool:
    there = sum(day * _HOURS + hour in slots for hour in hours)
    return there >= max(_COVERED * len(hours), 1)


def _alike(days: Sequence[int], dates: Mapping[int, dt.date], last: int) -> tuple[list[int], bool]:
    """Return the days that are like the last one, and whether these are of its weekday.

    Where there are too few of these, working days are like each other, and days of weekends.
    """
    same = [day for day in days if dates[day].weekday() == dates[last].weekday()]
    if len(same) >= LEAST_DAYS:
        return same, True
    return [day for day in days if _at_weekend(dates[day]) == _at_weekend(dates[last])], False


def _at_weekend(date: dt.date) -> bool:
    return date.weekday() >= _FIRST_WEEKEND_DAY


def _seasons(
    days: Sequence[int], dates: Mapping[int, dt.date], *, weekday: bool
) -> list[list[int]]:
    """Return the days in groups of which each is alike."""
    found: dict[int, list[int]] = {}
    for day in days:
        kind = dates[day].weekday() if weekday else int(_at_weekend(dates[day]))
        found.setdefault(kind, []).append(day)
    return [*found.values()]


def _course(
    figures: Figures,
    alike: Sequence[int],
    last: int,
    hours: frozenset[int],
    seasons: Sequence[Sequence[int]],
) -> Course | None:
    """Return the course of a figure; None: too few days have it."""
    days = {
        day: value
        for season in seasons
        for day in season
        if (value := figures.of(_of_day(day, hours))) is not None
    }
    before = [days[day] for day in alike if day in days]
    if len(before) < LEAST_DAYS or last not in days:
        return None
    grown = growth([{day: days[day] for day in season if day in days} for season in seasons])
    per_day = grown[0] if grown and grown[1] < CHANCE else None
    unusual = dict(_unusual(figures, alike, last, hours))
    found = Course(figures, usual_range(before, _least(figures)), days[last], unusual)
    if per_day is None:
        return found
    return replace(found, per_week=per_day * _WEEK, days_left=_days_left(figures, days, per_day))


def _least(figures: Figures) -> float:
    """Return by how much a figure differs at least that is not usual."""
    if math.isnan(figures.line.limit):
        return _LEAST_COUNT if figures.line.style == "grouped" else 0.0
    return figures.line.limit * _LEAST_OF_LIMIT


def _of_day(day: int, hours: frozenset[int]) -> list[int]:
    return [day * _HOURS + hour for hour in sorted(hours)]


def _unusual(
    figures: Figures, alike: Sequence[int], last: int, hours: frozenset[int]
) -> Iterator[tuple[int, bool]]:
    """Yield hours of the last day in which a figure is not as usual, and whether it is above."""
    for hour in sorted(hours):
        now = figures.of([last * _HOURS + hour])
        found = (figures.of([day * _HOURS + hour]) for day in alike)
        before = [each for each in found if each is not None]
        if now is None or len(before) < LEAST_DAYS:
            continue
        low, high = usual_range(before, _least(figures))
        if not low <= now <= high:
            yield hour, now > high


def _days_left(figures: Figures, days: Mapping[int, float], per_day: float) -> float | None:
    """Return in how many days a figure is at its limit: from the highest of the last week on."""
    limit = figures.line.limit
    if per_day <= 0 or math.isnan(limit):
        return None
    slots = [slot for slot in figures.slots if slot // _HOURS > max(days) - _WEEK]
    highest = max(value for slot in slots if (value := figures.of([slot])) is not None)
    return max(limit - highest, 0.0) / per_day


def _names(catalog: Catalog) -> dict[tuple[str, str], dict[str, dict[str, set[int]]]]:
    """Return by queue manager, kind and name the days on which a name is there."""
    kinds = {name: line.names for name, line in lines().items() if line.names}
    query = _NAMES.format(day=_DAY_US, lines=", ".join(f"'{each}'" for each in kinds))
    found: dict[tuple[str, str], dict[str, dict[str, set[int]]]] = {}
    for row in held_rows(catalog, query):
        of_kind = found.setdefault((row["system"], row["qmgr"]), {})
        names = of_kind.setdefault(kinds[row["line"]], {})
        names.setdefault(row["object"], set()).add(row["day"])
    return found


def changed_names(
    names: Mapping[str, Mapping[str, set[int]]], alike: Sequence[int], last: int
) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return the names that are new on the last day, and those gone on it, by kind."""
    new, gone = {}, {}
    often = _OFTEN * len(alike)
    for kind, found in names.items():
        new[kind] = sorted(each for each, days in found.items() if min(days) == last)
        gone[kind] = sorted(
            each
            for each, days in found.items()
            if last not in days and len(days.intersection(alike)) >= often
        )
    return new, gone
