"""The intervals of a queue manager: kinds, gaps, restarts, missing records, and its clock.

Expected values are worked out by hand from docs/selecting.md.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smfparse.decoding.selection import Selection
from smfparse.decoding.zones import fixed_zone
from smfparse.metrics.calendar import calendar_macros, clock_of
from smfparse.metrics.views import named_macros, view_macros
from tests.support.searching import search

SECOND = 1_000_000
HOUR = 3600 * SECOND
DAY = dt.datetime(2026, 5, 11, tzinfo=dt.UTC)
ZERO = int(DAY.timestamp()) * SECOND
Span = tuple[float, float, int]
"""Start and end in minutes behind ZERO, and QWHSISEQ."""


SPANS = pa.schema(
    {
        "alike": pa.string(), "started": pa.timestamp("us", "UTC"), "seconds": pa.float64(),
        "ended": pa.timestamp("us", "UTC"), "sequence_no": pa.int64(), "utc_offset": pa.int64(),
    }
)  # fmt: skip


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as made:
        made.execute("SET TimeZone = 'UTC'")
        made.execute(view_macros() + calendar_macros())
        yield made


def tens(first: int, last: int, number: int = 0) -> list[Span]:
    """Return intervals of ten minutes from one minute to another, numbered from `number` on."""
    begins = range(first, last, 10)
    return [(begin, begin + 10, number + at if number else 0) for at, begin in enumerate(begins)]


def row(begin: float, end: float, number: int, utc_offset: int | None = None) -> dict[str, Any]:
    started, ended = (DAY + dt.timedelta(minutes=each) for each in (begin, end))
    return {
        "alike": "QM01", "started": started, "ended": ended, "seconds": 60.0 * (end - begin),
        "sequence_no": number, "utc_offset": utc_offset,
    }  # fmt: skip


LONG, LATER = tens(0, 100, 7), tens(140, 200, 18)
JUDGED: dict[str, tuple[list[Span], dict[int, str]]] = {
    "intervals that follow one another": (tens(0, 60, 100), {}),
    "behind another, less than half as long": ([*LONG, (100, 104.9, 17)], {10: "short"}),
    "half as long": ([*LONG, (100, 105.1, 17)], {}),
    "one and a half": ([*LONG, (100, 115.1, 17)], {10: "long"}),
    "three times": ([*LONG, (100, 131, 17)], {10: "long"}),
    "behind a gap, a stub": ([*LONG, (135.1, 140, 17), *LATER], {10: "stub gap 2106"}),
    "half a stub": ([*LONG, (134.9, 140, 17), *LATER], {10: "typical gap 2094"}),
    "long there": ([*LONG, (111, 140, 17), *LATER], {10: "long gap 660"}),
    "one that goes back": ([*LONG, (109, 140, 17), *LATER], {10: "first gap 540"}),
    "less than any setting": ([*tens(0, 30, 5), (30, 30 + 0.8 / 60, 8)], {3: "stub"}),
    "the number 1 is a restart wherever it is": (
        [*tens(0, 30, 5), (30, 39, 8), (39.5, 40, 1), *tens(40, 60, 2)],
        {4: "stub gap 30 restart"},
    ),
    "also alone": ([(0, 0.8 / 60, 1)], {0: "stub restart"}),
    "a number that falls": ([*tens(0, 30, 50), *tens(60, 90, 3)], {3: "typical gap 1800 restart"}),
    "numbers that go on over a gap": (
        [*tens(0, 30, 50), (37, 40, 53), *tens(40, 60, 54)],
        {3: "stub gap 420"},
    ),
    "missing": ([*tens(0, 30, 50), *tens(70, 90, 57)], {3: "typical gap 2400 missing 4"}),
    "without numbers a gap and a shorter interval": (
        [*tens(0, 30), (33, 40, 0), *tens(40, 60), *tens(70, 90)],
        {3: "typical gap 180 restart", 6: "typical gap 600"},
    ),
    "1.2 seconds behind another": ([*tens(0, 20), (20.02, 34.9, 0)], {2: "typical gap 1"}),
    "a count that begins at 0": ([(0, 10, 0), (10, 20, 1), (20, 30, 2)], {}),
}
"""Intervals in the order of time; and what is said of each, by its index, that is not typical."""


def test_intervals_are_judged_by_those_before_them(connection: duckdb.DuckDBPyConnection) -> None:
    for what, (spans, expected) in JUDGED.items():
        connection.register("spans", pa.Table.from_pylist([row(*each) for each in spans], SPANS))
        found = connection.sql(
            "SELECT concat_ws(' ', kind, 'gap ' || nullif(round(gap)::INT, 0), "
            "if(is_restart, 'restart', NULL), 'missing ' || missing), typical "
            "FROM intervals_in_order('spans') ORDER BY started, ended"
        ).fetchall()
        assert {at: said for at, (said, _) in enumerate(found) if said != "typical"} == expected, (
            what
        )
        assert len(spans) == 1 or {each for _, each in found} == {600.0}, what


@search(15)
@given(
    st.tuples(st.integers(0, 143), st.integers(0, 143)).filter(lambda hours: hours[0] != hours[1]),
    st.sampled_from([-18000, 0, 3600]),
    st.sets(st.integers(0, 431), max_size=30),
    st.booleans(),
)
def test_nothing_is_missing_outside_of_the_selected_hours(
    hours: tuple[int, int], offset: int, lost: set[int], in_a_zone: bool
) -> None:
    """Intervals of ten minutes in three days, of which some are lost.

    An interval is selected by its middle, so one at the edge of the hours may be lost unseen.
    """
    opens, closes = hours
    is_selected = [(at + offset // 600 - opens) % 144 < (closes - opens) % 144 for at in range(432)]
    kept = [at for at in range(432) if is_selected[at] and at not in lost]
    selection = Selection(daily=(600 * opens, 600 * closes))
    zone = fixed_zone(offset) if in_a_zone else None
    utc_offset = 7200 if zone else offset
    rows = [row(10 * at, 10 * at + 10, 100 + at, utc_offset) for at in kept]
    expected = []
    for before, after in pairwise(kept):
        between = is_selected[before + 1 : after]
        expected.append(between.count(True) if between.count(True) > 1 or all(between) else 0)
    with duckdb.connect() as made:
        made.execute("SET TimeZone = 'UTC'")
        macros = view_macros() + calendar_macros(selection._replace(zone=zone))
        made.execute(named_macros("intervals_in_order()", macros))
        made.register("spans", pa.Table.from_pylist(rows, SPANS))
        found = made.sql(
            "SELECT coalesce(gap, 0), coalesce(missing, 0) FROM intervals_in_order('spans') "
            "ORDER BY started"
        ).fetchall()
    for lost_here, (gap, missing) in zip(expected, found[1:], strict=True):
        assert missing == lost_here
        assert gap == 600 * lost_here


def test_a_clock_changes_on_the_hour_within_the_interval_that_shows_it() -> None:
    starts = [ZERO + each * HOUR // 2 for each in range(6)]
    ends = [each + HOUR // 2 for each in starts]
    clock = clock_of(starts, ends, [3600, 3600, 7200, 7200, None, 7200])
    assert clock.changes == (ZERO + HOUR,)
    assert [clock.offset(ZERO + HOUR - 1), clock.offset(ZERO + HOUR)] == [3600, 7200]
    edge = ZERO + 3 * HOUR // 4
    assert clock_of([ZERO, edge], [edge, ZERO + 2 * HOUR], [0, -3600]).changes == (ZERO + HOUR,)
    assert clock_of([ZERO], [ZERO + HOUR], [None]) == fixed_zone(0)


COVERED: list[tuple[list[tuple[float, float]], list[tuple[int, int]], int]] = [
    ([(0, 10), (20, 30)], [], 20),  # a gap
    ([(0, 10), (5, 30), (7, 8)], [], 30),  # side by side
    ([(0, 10), (10, 20), (10, 20)], [], 20),  # one behind the other
    ([(5, 5)], [], 0),  # a moment
    ([(0, 60)], [(50, 60)], 10),  # a long first record
    ([(0, 5), (20, 30)], [(0, 10), (10, 20), (20, 30)], 30),  # no task was active
    ([(0, 5), (20, 30)], [(0, 10), (20, 30)], 20),  # neither tasks nor statistics
    ([(0, 10), (40, 60)], [(50, 60)], 20),  # a record before all statistics
    ([(50, 70)], [(40, 60), (60, 65)], 15),  # a record beyond them
    ([(0, 10)], [(40, 60)], 10),  # statistics of another time
    ([(30, 40)], [(40, 60)], 10),  # just before them
    ([(0.5, 9.5)], [(0, 10)], 10),  # class 3 is written with statistics
    ([(2, 8)], [(0, 10)], 6),  # class 3 starts and stops meanwhile
]
"""Intervals of records of tasks, and of statistics; and the seconds that tasks cover."""
WHOLE: list[tuple[list[tuple[float, float]], list[tuple[int, int]], int]] = [
    ([(35, 45), (45, 55), (55, 65)], [(40, 60)], 30),  # intervals of accounting beyond statistics
    ([(30, 60)], [(40, 50), (50, 60), (60, 70)], 30),  # one, which ends before the statistics do
    ([(30, 60)], [(40, 50)], 30),  # one that begins before and ends after them
]
"""The same of records that are intervals of accounting."""


def test_the_time_that_tasks_cover(connection: duckdb.DuckDBPyConnection) -> None:
    names = {"alike": pa.string(), "is_whole": pa.bool_()}
    schema = pa.schema(names | dict.fromkeys(("began", "ended"), pa.int64()))
    for tasks, statistics, seconds, is_whole in [
        *((*each, False) for each in COVERED),
        *((*each, True) for each in WHOLE),
    ]:
        for table, spans in (("tasks", tasks), ("statistics", statistics)):
            made = [[int(SECOND * each) for each in span] for span in spans]
            rows = [
                dict(zip(schema.names, ["QM01", is_whole, *each], strict=True)) for each in made
            ]
            connection.register(table, pa.Table.from_pylist(rows, schema))
        (found,) = connection.sql("FROM covered_time('tasks', 'statistics')").fetchall()
        assert found[-1] == seconds, (tasks, statistics)
        assert found[2] - found[1] >= SECOND * seconds


PLACED: list[tuple[list[tuple[int, int]], dict[int, int]]] = [
    # Three intervals of statistics, and records of class 3 with them, before and behind them.
    ([(60, 70), (70, 80), (80, 90)], {50: 50, 60: 60, 80: 80, 85: 90, 94: 90}),
    ([], {50: 50, 60: 60}),
    # Statistics of five minutes, class 3 of ten: class 3 has its own intervals.
    ([(60, 65), (65, 70), (70, 75)], {60: 60, 70: 70}),
]
"""Minutes of statistics; and when records of ten minutes begin, and the ten minutes of each."""


def test_records_of_class_3_are_in_the_interval_with_their_middle(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    start = (
        "to_timestamp(minute * 60) AS interval_start, interval_seconds::DOUBLE AS interval_seconds"
    )
    for statistics, expected in PLACED:
        spans = ", ".join(f"({a}, {60 * (b - a)})" for a, b in statistics) or "(NULL, NULL)"
        connection.execute(
            f"CREATE OR REPLACE TABLE stats AS SELECT '' AS system, 'QM01' AS qmgr, "
            f"{start} FROM (VALUES {spans}) AS t(minute, interval_seconds)"
        )
        task = "0 AS input_no, '' AS source, minute AS record_no, 1 AS block_no, '' AS mq_version"
        task += ", 0 AS utc_offset, 'JOB' AS wtidccn, '' AS wtidchl, 'CICS' AS wtidatyp_text"
        connection.execute(
            f"CREATE OR REPLACE TABLE identities AS SELECT '' AS system, 'QM01' AS qmgr, "
            f"{task}, {start} "
            f"FROM (SELECT unnest({[*expected]}) AS minute, 600 AS interval_seconds)"
        )
        found = connection.sql(
            "SELECT record_no, (epoch(start) / 60)::INT, seconds::INT "
            "FROM task_intervals('identities', 'stats')"
        ).fetchall()
        assert {*found} == {(*each, 600) for each in expected.items()}, statistics
