"""The last day against those like it, over rows that a test writes."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest

from smfparse.decoding.selection import Selection
from smfparse.decoding.zones import Zone, parse_zone
from smfparse.metrics.calendar import SECOND_US
from smfparse.summarizing.trend import CHANCE, Course, Trend, growth, trended, usual_range
from smfparse.summarizing.trend_printing import TrendDocument

MONDAY = dt.datetime(2026, 3, 2)
HOUR = dt.timedelta(hours=1)
ZONE = "Europe/Berlin"
PAGE_SET = ("page-set", "page set 1")
Value = Callable[[int, int], float]
"""The figure of a day and an hour."""


def trend_of(
    starts: Sequence[dt.datetime],
    every: dt.timedelta,
    clock: dt.tzinfo,
    values: dict[tuple[str, str], Callable[[dt.datetime], float]],
    zone: Zone | None = None,
) -> Trend:
    """Return the trend of intervals that start so, whose records have the offsets of a clock.

    Its catalog has the rows that are made here, and takes no macros of lines.

    values  amounts in an interval from a local time on, by line and object; below 0: none
    zone    what --tz asks for
    """
    keys = {"system": "SYS1", "qmgr": "QM01", "seconds": every.total_seconds()}
    rows, times = [], []
    for start in starts:
        local = start.astimezone(clock)
        offset = 0 if zone else round((local.utcoffset() or dt.timedelta()).total_seconds())
        began = round(start.timestamp()) * SECOND_US
        times.append({
            "source": 1, "started": began, "utc_offset": offset,
            "mq_version": "9.4.0", "typical": keys["seconds"], "gap": None, "is_restart": False,
            "missing": None, "kind": "typical", "is_derived": False, **keys,
        })  # fmt: skip
        rows += [
            {"line": line, "object": name, "start": began, "amount": amount, "per": 3600.0, **keys}
            for (line, name), value in values.items()
            if (amount := value(local)) >= 0
        ]
    tables = [pa.Table.from_pylist(each) for each in (rows, times)]
    held: Any = SimpleNamespace(
        zone=zone, inputs=SimpleNamespace(selection=Selection()), held={},
        define=lambda _: None, arrows=lambda _: tables,
    )  # fmt: skip
    held.hold = held.held.__setitem__
    (found,) = trended(held)
    return found


def trend(days: int, values: dict[tuple[str, str], Value], last_hour: int = 24) -> Trend:
    """Return the trend of figures by line and object; their hours are an interval each."""
    first = MONDAY.replace(tzinfo=dt.timezone(HOUR))
    hours = [first + each * HOUR for each in range(24 * (days - 1) + last_hour)]
    by_time = {
        key: lambda local, value=value: value((local - first).days, local.hour)
        for key, value in values.items()
    }
    return trend_of(hours, HOUR, first.tzinfo, by_time)


def by_clock(
    first: dt.datetime,
    intervals: int,
    every: dt.timedelta,
    value: Callable[[dt.datetime], float],
    *,
    asked: bool = True,
) -> Trend:
    """Return the trend of intervals whose figures follow the clock of a zone.

    value  the messages a second of a channel while it is this local time
    asked  whether --tz asks for the zone; else records have its offsets
    """
    starts = [first + each * every for each in range(intervals)]
    messages = {("channel-messages", "A.TO.B"): lambda local: value(local) * every.total_seconds()}
    return trend_of(starts, every, ZoneInfo(ZONE), messages, parse_zone(ZONE) if asked else None)


def only(found: Trend) -> Course:
    (course,) = found.courses
    return course


def weekly(day: int, hour: int) -> float:
    """As on every working day and every weekend, with some noise."""
    return (20 if day % 7 < 5 else 5) + hour / 10 + (day * 7 + hour * 5) % 3 / 10


def test_a_usual_day_has_no_unusual_hour_and_does_not_grow() -> None:
    found = trend(29, {PAGE_SET: weekly})
    course = only(found)
    assert (found.days, found.weekday, found.last) == (29, True, dt.date(2026, 3, 30))
    assert found.comparable == [dt.date(2026, 3, each) for each in (2, 9, 16, 23)]
    assert (course.hours, course.per_week, course.days_left) == ({}, None, None)
    assert course.usual[0] < course.last < course.usual[1]


def test_hours_above_and_below_are_found() -> None:
    odd = {10: 60.0, 11: 60.0, 20: 2.0}
    course = only(trend(29, {PAGE_SET: lambda day, hour: odd.get(hour, 20) if day == 28 else 20}))
    assert (course.hours, course.last) == ({10: True, 11: True, 20: False}, 60)


def test_days_until_a_limit_are_those_of_its_growth() -> None:
    for line, limit in {
        "page-set": 100, "log-busy": 95, "current-channels": 100, "storage-31": 100,
    }.items():  # fmt: skip
        scale = 3600 if line == "log-busy" else 1
        course = {(line, "it"): lambda day, hour, by=scale: (weekly(0, hour) + day) * by}
        found = only(trend(29, course))
        assert found.per_week == pytest.approx(7), line
        highest = weekly(0, 23) + 28
        assert found.days_left == pytest.approx(limit - highest, abs=0.5), line


def test_what_shrinks_has_no_days_left_and_every_page_set_is_followed() -> None:
    sets = {("page-set", f"{each}"): lambda day, _, at=each: 10.0 * at + day for each in range(5)}
    assert len(trend(29, sets).courses) == 5
    course = only(trend(29, {PAGE_SET: lambda day, _: 90.0 - day}))
    assert course.per_week == pytest.approx(-7)
    assert course.days_left is None


def test_with_few_weeks_working_days_are_alike() -> None:
    found = trend(11, {PAGE_SET: weekly})
    assert (found.weekday, found.last) == (False, dt.date(2026, 3, 12))
    assert [each.day for each in found.comparable] == [2, 3, 4, 5, 6, 9, 10, 11]
    assert only(found).hours == {}
    part = only(trend(11, {PAGE_SET: lambda _, hour: hour}, last_hour=9))
    assert (part.last, part.hours) == (8, {})  # the last day is not over


def test_under_three_days_nothing_is_compared() -> None:
    found = trend(3, {PAGE_SET: weekly})
    assert (len(found.comparable), found.courses, found.new) == (2, (), None)
    assert len(trend(4, {PAGE_SET: weekly}).comparable) == 3


def test_growth_is_shown_also_on_a_day_that_is_like_none_before() -> None:
    """A Saturday after a week: of what grows, not of what is as ever."""
    found = trend(6, {PAGE_SET: lambda day, _: 20.0 + day, ("page-set", "5"): weekly})
    course = only(found)
    assert (found.last, found.comparable, found.new) == (dt.date(2026, 3, 7), [], None)
    assert (course.figures.object, course.usual, course.per_week) == (PAGE_SET[1], None, 7)
    assert (course.hours, course.days_left) == ({}, pytest.approx(75))
    document = TrendDocument([found])
    text = " ".join(" ".join(document.printed()).split())
    assert "no earlier weekends, but at least 3 are required. Growth is computed from" in text
    assert "page set 1 25.0 +28.0% 100 in 75 days" in text
    (fact,) = document.facts()
    (shown,) = fact.head["managers"][0]["figures"]
    assert (shown["usual_low"], shown["usual_high"], shown["last"]) == (None, None, 25)


def test_days_of_which_too_much_is_missing_are_not_comparable() -> None:
    found = trend(5, {PAGE_SET: lambda day, hour: -1 if day == 2 and hour > 8 else 20})
    assert [each.day for each in found.comparable] == [2, 3, 5]


def test_names_that_are_new_and_gone() -> None:
    def on(*days: int) -> Value:
        return lambda day, _: 1.0 if day in days else -1

    names = {
        ("queue-cpu", "OLD"): on(0, 1, 2, 3, 4), ("queue-cpu", "NEW"): on(4),
        ("queue-cpu", "GONE"): on(0, 2, 3), ("queue-cpu", "SELDOM"): on(1),
        ("job-cpu", "NEWJOB"): on(4), ("channel-messages", "GONE.CHL"): on(0, 1, 2, 3),
    }  # fmt: skip
    found = trend(5, names)
    assert found.new == {"queues": ["NEW"], "jobs": ["NEWJOB"], "channels": []}
    assert found.gone == {"queues": ["GONE"], "jobs": [], "channels": ["GONE.CHL"]}


@pytest.mark.parametrize("asked", [True, False])
@pytest.mark.parametrize(("month", "day"), [(3, 29), (10, 25)])
def test_days_and_hours_follow_the_clock_where_it_changes(month: int, day: int, asked: bool):
    """Also on the day of the change itself, which has 23 hours or 25."""
    change = dt.datetime(2026, month, day, tzinfo=ZoneInfo(ZONE))
    first = (change - dt.timedelta(days=24)).astimezone(dt.UTC)
    last_hours = 25 if month == 10 else 23

    def value(local: dt.datetime) -> float:
        return 100.0 + 50 * local.hour

    found = by_clock(first, 24 * 24 + last_hours, HOUR, value, asked=asked)
    length = min(last_hours, 24)
    assert (found.last, found.length, len(found.hours)) == (change.date(), length, length)
    shown = [each for each in range(24) if (month, each) != (3, 2)] + [2] * (month == 10)
    assert only(found).hours == {}
    assert only(found).last == pytest.approx(100 + 50 * sum(shown) / len(shown))

    busy = {change.date(): 1000.0}
    found = by_clock(
        first,
        27 * 24 + last_hours,
        HOUR,
        lambda local: value(local) + busy.get(local.date(), 0),
        asked=asked,
    )
    assert (found.last, found.length) == ((change + dt.timedelta(days=3)).date(), 24)
    assert found.hours == [*range(24)]
    assert found.comparable == [(found.last - dt.timedelta(weeks=each)) for each in (3, 2, 1)]
    assert (only(found).hours, only(found).per_week) == ({}, None)
    assert only(found).last == pytest.approx(100 + 50 * 11.5)


def test_an_interval_that_goes_on_after_midnight_makes_no_day() -> None:
    first = dt.datetime(2026, 4, 13, tzinfo=dt.UTC)  # intervals from 02:00, 08:00, 14:00, 20:00
    found = by_clock(first, 5 * 4, dt.timedelta(hours=6), lambda local: 100.0 + local.hour)
    assert (found.last, found.hours) == (dt.date(2026, 4, 17), [*range(24)])
    assert len(found.comparable) == 4


def test_the_usual_range_is_about_the_median_and_one_outlier_does_not_move_it() -> None:
    low, high = usual_range([100, 102, 98, 101, 99, 5000])
    assert 80 < low < 98
    assert 102 < high < 125

    assert usual_range([50.0] * 8) == (45, 55)
    assert usual_range([50.0] * 8, least=10) == (40, 60)
    assert usual_range([0.0] * 8, least=2) == (0, 2)
    few, many = usual_range([8, 10, 12]), usual_range([8, 10, 12] * 10)
    assert few[1] - few[0] > many[1] - many[0]


def test_growth_is_that_of_each_season_and_the_step_between_them_is_none() -> None:
    """Equal days, and one day of each season, do not grow."""
    workdays = {day: 100.0 + day for day in range(0, 28, 2)}
    weekends = {day: 10.0 + day for day in range(1, 28, 2)}
    per_day, chance = growth([workdays, weekends]) or (0, 1)
    assert per_day == 1
    assert chance < CHANCE / 100
    for seasons in ([], [{}], [{3: 1.0}], [{3: 1.0}, {4: 2.0}]):
        assert growth(seasons) is None
    assert growth([dict.fromkeys(range(10), 5.0)]) == (0, pytest.approx(1))


def test_chance_is_taken_for_growth_as_seldom_as_is_said() -> None:
    drawn = random.Random(1)
    found = [growth([{day: drawn.gauss(100, 10) for day in range(15)}]) for _ in range(400)]
    assert None not in found
    assert sum(each is not None and each[1] < CHANCE for each in found) <= 0.08 * 400
