"""Trends as a document: a screen of text per queue manager, a table of courses, facts."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from smfparse.advice.wording import nothing_to
from smfparse.rendering.document import Cells, Column, Document, Facts, Section, Table, Values
from smfparse.rendering.figures import few, legible, plural
from smfparse.rendering.text import HEAD, HEADLINE, Mark, aligned
from smfparse.summarizing.trend import LEAST_DAYS, Course, Trend

_NOTHING = nothing_to("compare")
_NAMES_SHOWN = 10
_NEAR_DAYS = 366
"""Maximum days until a limit for which the time is shown."""
_COLUMNS = (
    *(Column("Figure"), Column("Of"), Column("Usual", right=True), Column("Last day", right=True)),
    *(Column("Hours that are unusual"), Column("Per week", right=True), Column("Limit")),
)
_CSV = (
    *("system", "qmgr", "name", "figure", "object", "usual_low", "usual_high", "last"),
    *("hours_above", "hours_below", "per_week", "limit", "days_left", "report"),
)


class TrendDocument(Document):
    """The last day of each queue manager, compared with similar earlier days."""

    title = "Trend"
    marks = (HEADLINE, Mark("Figure +Of .*", HEAD))

    def __init__(self, trends: Sequence[Trend]) -> None:
        self._trends = trends

    def printed(self) -> Iterator[str]:
        """Yield the lines of text."""
        for number, each in enumerate(self._trends):
            if number:
                yield ""
            yield _title(each)
            yield from textwrap.wrap(_compared(each), self.room)
            if each.courses:
                yield ""
                yield from aligned(_COLUMNS, _rows(each))
            changes = list(_changes(each))
            for sentence in ("", *changes) if changes else ():
                yield from textwrap.wrap(sentence, self.room, subsequent_indent="  ") or [""]
        if not self._trends:
            yield _NOTHING

    def sections(self) -> Iterator[Section]:
        """Yield a section for each queue manager."""
        for each in self._trends:
            tables = [Table(_COLUMNS, _rows(each))] if each.courses else []
            yield Section(_title(each), tables, [_compared(each), *_changes(each)])
        if not self._trends:
            yield Section("", notes=[_NOTHING])

    def tables(self) -> Iterator[Values]:
        """Yield one table: the courses of all queue managers."""
        rows = (_flat(trend, each) for trend in self._trends for each in trend.courses)
        yield Values.of(self.title, _CSV, rows)

    def facts(self) -> Iterator[Facts]:
        """Yield the facts of each queue manager."""
        yield Facts({"managers": [_fact(each) for each in self._trends]}, indent=2)


def _title(trend: Trend) -> str:
    return f"{trend.times.name}, {plural(trend.days, 'day')} up to {trend.last:%A %Y/%m/%d}"


def _compared(trend: Trend) -> str:
    """Return a sentence about the days for comparison, or about too few such days."""
    count = len(trend.comparable)
    kind = "weekend" if trend.last.weekday() > 4 else "working day"
    if count < LEAST_DAYS:
        there = f"{count or 'no'} earlier {kind}{'' if count == 1 else 's'}"
        growth = " Growth is computed from the other days." if trend.courses else ""
        return f"Too few days to compare: {there}, but at least {LEAST_DAYS} are required.{growth}"
    days = f"{trend.last:%A}s" if trend.weekday else f"{kind}s"
    lacking = len(trend.hours) < trend.length
    part = f" ({len(trend.hours)} hours of data)" if lacking else ""
    return f"The last day{part} is compared with {count} earlier {days}, hour by hour."


def _shown(trend: Trend) -> list[Course]:
    """Return the shown courses: the first objects of each line, and objects near a limit."""
    found = []
    for line, some in groupby(trend.courses, lambda each: each.figures.line):
        for place, each in enumerate(some):
            if place < line.top or _is_near(each):
                found.append(each)
    return found


def _rows(trend: Trend) -> list[Cells]:
    return [_cells(each) for each in _shown(trend)]


def _cells(course: Course) -> Cells:
    line = course.figures.line
    usual = " to ".join(legible(each, line.style) for each in course.usual or ())
    return [
        *(line.label, course.figures.object, usual, legible(course.last, line.style)),
        _hours(course.hours),
        _growth(course),
        _limit(course),
    ]


def _is_near(course: Course) -> bool:
    return course.days_left is not None and course.days_left <= _NEAR_DAYS


def _hours(hours: Mapping[int, bool]) -> str:
    """Return hours as spans: above 09-11 14, below 03."""
    parts = []
    for above, word in ((True, "above"), (False, "below")):
        some = sorted(hour for hour, is_above in hours.items() if is_above is above)
        spans = [
            [hour for _, hour in run]
            for _, run in groupby(enumerate(some), lambda each: each[1] - each[0])
        ]
        if spans:
            parts.append(f"{word} {' '.join(map(_span, spans))}")
    return ", ".join(parts)


def _span(hours: Sequence[int]) -> str:
    first, last = hours[0], hours[-1]
    return f"{first:02}" if first == last else f"{first:02}-{last:02}"


def _growth(course: Course) -> str:
    """Return the growth per week as a share of the usual value, or of the last day's value."""
    middle = sum(course.usual) / 2 if course.usual else course.last
    if course.per_week is None or middle <= 0:
        return ""
    return f"{100 * course.per_week / middle:+.1f}%"


def _limit(course: Course) -> str:
    if not _is_near(course):
        return ""
    days = plural(round(course.days_left or 0), "day")
    return f"{course.figures.line.limit:g} in {days}"


def _changes(trend: Trend) -> Iterator[str]:
    """Yield sentences about new names and about names that are gone."""
    for word, found in (("New", trend.new), ("Gone", trend.gone)):
        for kind, names in (found or {}).items():
            if names:
                yield f"{word} {kind}: {few(names, _NAMES_SHOWN)}"


def _fact_of_course(course: Course) -> dict[str, Any]:
    line = course.figures.line
    low, high = course.usual or (None, None)
    return {
        "name": line.name,
        "figure": line.label,
        "object": course.figures.object,
        "usual_low": low,
        "usual_high": high,
        "last": course.last,
        "hours_above": [hour for hour, above in course.hours.items() if above],
        "hours_below": [hour for hour, above in course.hours.items() if not above],
        "per_week": course.per_week,
        "limit": None if math.isnan(line.limit) else line.limit,
        "days_left": course.days_left,
        "report": line.report,
    }


def _flat(trend: Trend, course: Course) -> dict[str, Any]:
    row = _fact_of_course(course)
    hours = {name: " ".join(map(str, row[name])) for name in ("hours_above", "hours_below")}
    return {"system": trend.times.system, "qmgr": trend.times.qmgr} | row | hours


def _fact(trend: Trend) -> dict[str, Any]:
    return {
        "system": trend.times.system,
        "qmgr": trend.times.qmgr,
        "days": trend.days,
        "last": trend.last.isoformat(),
        "last_hours": list(trend.hours),
        "comparable": [each.isoformat() for each in trend.comparable],
        "figures": [_fact_of_course(each) for each in trend.courses],
        "new": dict(trend.new or {}),
        "gone": dict(trend.gone or {}),
    }
