"""Which time a section's heading shows, and what is said of its intervals."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smfparse.inputs import Inputs, open_inputs
from smfparse.reports import TOTAL
from tests.support.real import REAL_DATA, needs_real_data
from tests.support.report_runs import lines_of, report_rows, rows_from
from tests.support.searching import of_many, search, some
from tests.support.smf import (
    ENDED,
    LOG_START,
    MINUTE,
    WEST,
    Log,
    block,
    log_record,
    queue,
    record,
    task,
    task_record,
    who,
)

pytestmark = pytest.mark.slow

NEAR = pytest.approx
OF_TASKS = ("qall", "tasksum", "api-cost", "streaming", "qgets", "qputs")
"""Reports of tasks whose sections are totals."""
LATE = dt.timedelta(microseconds=200)
"""How long after an interval of statistics a task writes its record."""
LOCAL = (ENDED + WEST).replace(tzinfo=None)


def putting(minute: float, minutes: float = 1, **keys: Any) -> bytes:
    """A task that puts for some minutes, until so many after ENDED and a moment."""
    ended = ENDED + minute * MINUTE + LATE
    used = queue("Q1", putn=10, validput=10, getn=5, validget=5)
    block_of_task = task(ended=ended, wtasints=ended - minutes * MINUTE)
    return task_record(block_of_task, used, by=who(), ended=ended, **keys)


def statistics(minute: float, minutes: float = 1, **keys: Any) -> bytes:
    """A record of statistics that ends so many minutes after ENDED."""
    start = LOCAL + (minute - minutes) * MINUTE
    return record(block("QMST", qmstput=60), start=start, seconds=60 * minutes, east=WEST, **keys)


def rows_of(inputs: Inputs, table: str) -> pl.DataFrame:
    """Rows of a table with when their intervals end, UTC."""
    length = pl.duration(microseconds=(pl.col("interval_seconds") * 1e6).round().cast(pl.Int64))
    rows = pl.DataFrame(inputs.arrow(table))
    return rows.with_columns(interval_end=pl.col("interval_start") + length)


# The time of a heading --------------------------------------------------------------------------


@needs_real_data
@of_many("name", some(OF_TASKS, 2))
def test_a_heading_shows_the_time_that_statistics_cover(name: str) -> None:
    """Two tasks of TESTCHL began four hours before its first interval."""
    assert REAL_DATA is not None
    path = REAL_DATA / "TESTCHL.dat"
    covered, tasks = rows_of(open_inputs([path]), "qmst"), rows_of(open_inputs([path]), "wtas")
    before = tasks.filter(pl.col("interval_start") < covered["interval_start"].min())
    assert before.height == 2
    rows = report_rows(name, path)
    assert rows
    for row in rows:
        assert row["interval_seconds"] == NEAR(covered["interval_seconds"].sum())
        assert row["interval_start"] == covered["interval_start"].min()
        assert row["interval_end"] == covered["interval_end"].max()
        assert row["began_before"] == before.height
    found = "\n".join(lines_of(name, rows))
    assert re.findall(r"duration ([0-9.]+) seconds", found) == ["956.302187"]
    assert "From 2016/02/27,18:00:33.776724 to 2016/02/27,18:16:30.078918 duration" in found
    assert "\nMarked spanning: 2 of 200 began before\n" in found


def test_only_statistics_of_the_time_and_queue_manager_of_tasks_count() -> None:
    """Others are before and after class 3, or of another; or most of the records are lost."""
    made = [
        *(putting(n, minutes, qmgr="NONE") for n, minutes in ((1, 1), (2, 100))),
        *(putting(n, qmgr="LOST") for n in range(1, 61)),
        *(statistics(n, qmgr="LOST") for n in range(1, 11)),
        *(statistics(n, 20, qmgr="VTS2") for n in range(20, 61, 20)),
        *(putting(n, minutes, qmgr="PART") for n, minutes in ((3, 1), (3, 100), (6, 1))),
        *(statistics(n, qmgr="PART") for n in range(1, 10)),
    ]
    rows = {row["qmgr"]: row for row in rows_from("qall", *made)}
    none, part = rows["NONE"], rows["PART"]
    assert (none["interval_seconds"], none["began_before"], none["marks"]) == (6000, None, None)
    assert rows["LOST"]["interval_seconds"] == NEAR(3600)
    assert (part["interval_seconds"], part["began_before"]) == (NEAR(240), 1)
    assert part["interval_start"] == ENDED + 2 * MINUTE


# Starts: a queue manager each ------------------------------------------------------------------


def log(start: float, seconds: float, qmgr: str) -> bytes:
    """A 115/1 record of an interval, by seconds since LOG_START: the logger was busy for 35 %."""
    figures = Log(counters={"qjstciwr": 1, "qjstlogw": 1}, sleep_us=round(0.65e6 * seconds))
    begin = LOG_START + dt.timedelta(seconds=start)
    return log_record(figures, start=begin, duration_us=round(seconds * 1_000_000), qmgr=qmgr)


Lives = Sequence[Sequence[float]]
"""Seconds of intervals of a queue manager that starts so often, which follow one another."""


def lives(of: Mapping[str, Lives], down: float = 300) -> list[bytes]:
    found = []
    for qmgr, parts in of.items():
        start = 0.0
        for part in parts:
            for seconds in part:
                found.append(log(start, seconds, qmgr))
                start += seconds
            start += down
    return found


def marks(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[str | None]]:
    found: dict[str, list[str | None]] = {}
    for row in rows:
        found.setdefault(row["qmgr"], []).append(row["marks"])
    return found


STUBS = (0.741, 0.765, 0.782, 0.782, 0.799)
STARTS: dict[str, Lives] = {
    "STUB": [[0.782], [60, 60]], "MANY": [*([stub] for stub in STUBS), [60]],
    "ONLY": [[stub] for stub in STUBS[:2]], "BACK": [[14_183, 60, 60, 60]],
    "GAPS": [[60, 60, 60], [400, 60]], "GOES": [[60, 60, 400, *[60] * 8, 25]],
}  # fmt: skip
FIRST = "covers what came before, not in the median of 60 seconds"
MARKS: dict[str, list[str | None]] = {
    "ONLY": [
        "stub: 1 of 1, 0.74 seconds, as after a start",
        "stub: 1 of 1, 0.77 seconds, as after a start; gap: 300 seconds",
    ],
    # The first after START TRACE counts from the start of the queue manager.
    "BACK": [f"first: 1 of 1, 14183 seconds, {FIRST}", None, None, None],
    "GAPS": [None] * 3 + [f"first: 1 of 1, 400 seconds, {FIRST}; gap: 300 seconds", None],
    # The last one before a queue manager ends is short, and one that is late is long.
    "GOES": [None, None, "long: 1 of 1, median 60 seconds", *[None] * 9],
}


@pytest.fixture(scope="module")
def starts() -> list[dict[str, Any]]:
    return rows_from("log", *lives(STARTS))


def test_intervals_of_starts_are_marked(starts: list[dict[str, Any]]) -> None:
    found = marks(starts)
    assert {qmgr: found[qmgr] for qmgr in MARKS} == MARKS


def test_a_stub_of_a_start_shows_its_length_and_is_marked(starts: list[dict[str, Any]]) -> None:
    rows = [row for row in starts if row["qmgr"] == "STUB"]
    lines = lines_of("log", rows)
    assert lines[1].endswith("duration 0.78 seconds.")
    assert lines[2] == (
        "Marked stub: 1 of 1, 0.78 seconds, as after a start, not in the median of 60 seconds"
    )
    assert [row["task_busy"] for row in rows] == NEAR([35] * 3, rel=1e-3)


def test_stubs_do_not_make_the_median(starts: list[dict[str, Any]]) -> None:
    """Before, an interval of a minute among them was long, and the median a second."""
    assert marks(starts)["MANY"][-1] == "gap: 300 seconds"
    (whole,) = marks(rows_from("log", *lives({"MANY": STARTS["MANY"]}), sections=TOTAL))["MANY"]
    assert whole is not None
    assert whole.startswith("stub: 5 of 6, 4 seconds, as after a start, not in the median of 60")
    assert whole.endswith("; gap: 1500 seconds; restart: 4")  # the minute at the end is no shorter


def judged(lengths: list[tuple[float, float | None]]) -> list[str]:
    """What intervals are, of (seconds, seconds since the one before), in Python."""
    going_on = [each for each, apart in lengths if apart is not None and abs(apart) <= 1]
    usual = [s for s in (going_on or [s for s, _ in lengths]) if s > 0.9]
    usual = usual or [s for s, _ in lengths if s > 0.9]
    up_to, typical = 0.0, None
    for each in sorted(usual):
        up_to += each
        if typical is None and 2 * up_to >= sum(usual):
            typical = each
    found = []
    for seconds, apart in lengths:
        begins = apart is None or apart > 1
        if seconds <= 0.9 or (begins and typical and seconds < typical / 2):
            found.append("stub")
        elif begins and len([s for s in going_on if s > 0.9]) > 1 and seconds > 3 * (typical or 0):
            found.append("first")
        else:
            found.append("long" if typical and seconds > 1.5 * typical else "typical")
    return found


SECONDS = st.sampled_from([0.25, 0.75, 1.0, 10.0, 30.0, 60.0, 90.0, 100.0, 180.0, 200.0, 400.0])
PARTS = st.lists(st.lists(SECONDS, min_size=1, max_size=6), min_size=1, max_size=5)


@search(3)
@given(drawn=st.lists(PARTS, min_size=5, max_size=9))
def test_intervals_are_judged_as_told(drawn: list[Lives]) -> None:
    found = marks(rows_from("log", *lives({f"Q{at}": each for at, each in enumerate(drawn)})))
    for number, parts in enumerate(drawn):
        lengths = [
            (each, None if not life and not place else 300 if not place else 0)
            for life, part in enumerate(parts)
            for place, each in enumerate(part)
        ]
        shown = [(each or "typical").partition(":")[0] for each in found[f"Q{number}"]]
        assert ["typical" if each == "gap" else each for each in shown] == judged(lengths)
