"""The intervals of a queue manager: kinds, gaps, restarts, missing records, and its clock.

Expected values are worked out by hand from docs/time.md.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smfparse.calendar import Calendar, calendar_macros, calendars_of
from smfparse.calendar.intervals import clock_of
from smfparse.metrics import view_macros
from smfparse.selecting import fixed_zone
from tests.support.searching import search

SECOND = 1_000_000
HOUR = 3600 * SECOND
ZERO = int(dt.datetime(2026, 5, 11, tzinfo=dt.UTC).timestamp()) * SECOND
Span = tuple[float, float, int]
"""Start and end in minutes behind ZERO, and QWHSISEQ."""


def judged(spans: Sequence[Span]) -> list[dict[str, object]]:
    """Return what the calendar says of intervals, in the order of time."""
    rows = [
        {
            "alike": "QM01",
            "started": dt.datetime.fromtimestamp(ZERO / SECOND + 60 * begin, dt.UTC),
            "ended": dt.datetime.fromtimestamp(ZERO / SECOND + 60 * end, dt.UTC),
            "seconds": 60.0 * (end - begin),
            "sequence_no": number,
        }
        for begin, end, number in spans
    ]
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute(view_macros() + calendar_macros())
        connection.register("spans", pa.Table.from_pylist(rows))
        found = connection.sql(
            "SELECT kind, gap, overlap, is_restart, missing, typical "
            "FROM intervals_in_order('spans') ORDER BY started, ended"
        )
        return found.to_arrow_table().to_pylist()


def covered(tasks: Sequence[tuple[int, int]], statistics: Sequence[tuple[int, int]]) -> float:
    """Return the seconds that tasks cover, all times in seconds."""
    names = ("alike", "began", "ended")
    with duckdb.connect() as connection:
        connection.execute(view_macros() + calendar_macros())
        for table, spans in (("tasks", tasks), ("statistics", statistics)):
            rows = [("QM01", begin * SECOND, end * SECOND) for begin, end in spans]
            types = (pa.string(), pa.int64(), pa.int64())
            columns = zip(*rows, strict=True) if rows else [()] * 3
            arrays = [pa.array(each, kind) for each, kind in zip(columns, types, strict=True)]
            connection.register(table, pa.table(arrays, names=[*names]))
        (found,) = connection.sql("FROM covered_time('tasks', 'statistics')").fetchall()
    return float(found[1])


def tens(first: int, last: int, number: int = 0) -> list[Span]:
    """Return intervals of ten minutes from one minute to another, numbered from `number` on."""
    begins = range(first, last, 10)
    return [(begin, begin + 10, number + at if number else 0) for at, begin in enumerate(begins)]


def test_intervals_that_follow_one_another_are_typical() -> None:
    found = judged(tens(0, 60, 100))
    assert {each["kind"] for each in found} == {"typical"}
    assert not any(each["is_restart"] or each["gap"] or each["missing"] for each in found)
    assert {each["typical"] for each in found} == {600.0}


def test_an_interval_behind_another_is_short_or_long() -> None:
    kinds = {4.9: "short", 5.1: "typical", 14.9: "typical", 15.1: "long", 31: "long"}
    for length, kind in kinds.items():
        assert judged([*tens(0, 100, 7), (100, 100 + length, 17)])[-1]["kind"] == kind, length


def test_an_interval_behind_a_gap_is_a_stub_or_goes_back() -> None:
    for length, kind in {4.9: "stub", 5.1: "typical", 29: "long", 31: "first"}.items():
        found = judged([*tens(0, 100, 7), (140 - length, 140, 17), *tens(140, 200, 18)])
        assert found[10]["kind"] == kind, length
        assert found[10]["gap"] == pytest.approx(60 * (40 - length))


def test_an_interval_shorter_than_any_setting_is_a_stub() -> None:
    assert judged([*tens(0, 30, 5), (30, 30 + 0.8 / 60, 8)])[-1]["kind"] == "stub"


def test_the_number_1_is_a_restart_wherever_it_is() -> None:
    late = judged([*tens(0, 30, 5), (30, 39, 8), (39.5, 40, 1), *tens(40, 60, 2)])
    assert [each["is_restart"] for each in late] == [False] * 4 + [True, False, False]
    assert late[4]["kind"] == "stub"
    alone = judged([(0, 0.8 / 60, 1)])
    assert alone[0]["is_restart"]


def test_a_number_that_falls_is_a_restart() -> None:
    found = judged([*tens(0, 30, 50), *tens(60, 90, 3)])
    assert [each["is_restart"] for each in found] == [False] * 3 + [True, False, False]
    assert not any(each["missing"] for each in found)


def test_numbers_that_go_on_over_a_gap_are_no_restart() -> None:
    found = judged([*tens(0, 30, 50), (37, 40, 53), *tens(40, 60, 54)])
    assert not any(each["is_restart"] for each in found)
    assert found[3]["gap"] == pytest.approx(420)


def test_numbers_count_the_intervals_that_are_missing() -> None:
    found = judged([*tens(0, 30, 50), *tens(70, 90, 57)])
    assert [each["missing"] for each in found] == [None, None, None, 4, None]


def test_without_numbers_a_gap_and_a_shorter_interval_are_a_restart() -> None:
    found = judged([*tens(0, 30), (33, 40, 0), *tens(40, 60), *tens(70, 90)])
    assert [each["is_restart"] for each in found] == [False] * 3 + [True] + [False] * 4
    assert [each["gap"] for each in found if each["gap"]] == pytest.approx([180, 600])


def test_a_count_that_begins_at_0_is_no_restart_at_1() -> None:
    assert not any(each["is_restart"] for each in judged([(0, 10, 0), (10, 20, 1), (20, 30, 2)]))


def calendar(spans: Sequence[tuple[float, float]], kind: str = "typical") -> Calendar:
    """Return a calendar of intervals of statistics, in minutes behind ZERO."""
    rows = [
        {
            "system": "SYSA",
            "qmgr": "QM01",
            "source": 1,
            "started": ZERO + round(60 * SECOND * begin),
            "seconds": 60.0 * (end - begin),
            "utc_offset": 0,
            "mq_version": "9.4.0",
            "typical": 600.0,
            "gap": None,
            "is_restart": False,
            "missing": None,
            "kind": kind,
            "is_derived": False,
        }
        for begin, end in spans
    ]
    return calendars_of(pa.Table.from_pylist(rows))["SYSA", "QM01"]


minutes = st.lists(st.integers(0, 120), min_size=2, max_size=12)


@search(60)
@given(minutes, st.integers(-10, 130), st.integers(0, 60))
def test_covered_time_is_that_of_minutes_with_data(
    bounds: list[int], begin: int, length: int
) -> None:
    pairs = [(a, b) for a, b in zip(sorted(bounds), sorted(bounds)[1:], strict=False) if a < b]
    spans = pairs[::2]
    if not spans:
        return
    there = {minute for a, b in spans for minute in range(a, b)}
    expected = 60.0 * len(there.intersection(range(begin, begin + length)))
    at = np.array([ZERO + 60 * SECOND * begin, ZERO + 60 * SECOND * (begin + length)])
    assert calendar(spans).covered(at[:1], at[1:]).tolist() == [expected]


def test_rows_of_a_stub_are_odd_and_others_are_not() -> None:
    stub = calendar([(0, 10)], "stub")
    inside, outside = ZERO + 60 * SECOND, ZERO + 3600 * SECOND
    rows = np.array([inside, outside])
    assert stub.is_odd(rows, np.array([60.0, 60.0])).tolist() == [True, False]


def test_a_row_that_goes_back_before_all_intervals_is_odd() -> None:
    known = calendar([(0, 10), (10, 20)])
    rows = np.array([ZERO - 8 * HOUR, ZERO - 60 * SECOND])
    assert known.is_odd(rows, np.array([8 * 3600.0 + 600, 600.0])).tolist() == [True, False]


def test_a_clock_changes_on_the_hour_within_the_interval_that_shows_it() -> None:
    starts = [ZERO + each * HOUR // 2 for each in range(6)]
    ends = [each + HOUR // 2 for each in starts]
    clock = clock_of(starts, ends, [3600, 3600, 7200, 7200, None, 7200])
    assert clock.changes == (ZERO + HOUR,)
    assert [clock.offset(ZERO + HOUR - 1), clock.offset(ZERO + HOUR)] == [3600, 7200]


def test_a_clock_that_changes_within_a_long_interval_changes_on_the_hour() -> None:
    clock = clock_of(
        [ZERO, ZERO + 45 * 60 * SECOND], [ZERO + 45 * 60 * SECOND, ZERO + 2 * HOUR], [0, -3600]
    )
    assert clock.changes == (ZERO + HOUR,)


def test_a_clock_without_offsets_is_utc() -> None:
    assert clock_of([ZERO], [ZERO + HOUR], [None]) == fixed_zone(0)


# -- covered time


@pytest.mark.parametrize(
    ("tasks", "statistics", "seconds"),
    [
        ([(0, 10), (20, 30)], [], 20),
        ([(0, 10), (5, 30), (7, 8)], [], 30),
        ([(0, 10), (10, 20), (10, 20)], [], 20),
        ([(5, 5)], [], 0),
        ([(0, 60)], [(50, 60)], 10),
        ([(0, 5), (20, 30)], [(0, 10), (10, 20), (20, 30)], 30),
        ([(0, 5), (20, 30)], [(0, 10), (20, 30)], 20),
        ([(0, 10), (40, 60)], [(50, 60)], 20),
        ([(50, 70)], [(40, 60), (60, 65)], 15),
        ([(0, 10)], [(40, 60)], 10),
    ],
    ids=[
        "a gap", "side by side", "one behind the other", "a moment", "a long first record",
        "no task was active", "neither tasks nor statistics", "a record before all statistics",
        "a record beyond the statistics", "statistics of another time",
    ],
)  # fmt: skip
def test_the_time_that_tasks_cover(
    tasks: list[tuple[int, int]], statistics: list[tuple[int, int]], seconds: int
) -> None:
    assert covered(tasks, statistics) == seconds


@search(15)
@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 9)), min_size=1, max_size=12))
def test_covered_time_is_that_of_any_of_the_intervals(spans: list[tuple[int, int]]) -> None:
    tasks = [(begin, begin + length) for begin, length in spans]
    assert covered(tasks, []) == len({each for span in tasks for each in range(*span)})
