"""Which time a section's heading shows, and what is said of its intervals."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pytest

from smfparse.reports import TOTAL
from tests.support.real import REAL_DATA, needs_real_data
from tests.support.report_runs import lines_of, report_rows, rows_from
from tests.support.searching import of_many, some
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


@needs_real_data
@of_many("name", some(OF_TASKS, 2))
def test_a_heading_shows_the_time_that_statistics_cover(name: str) -> None:
    """Two tasks of TESTCHL began four hours before its first interval."""
    assert REAL_DATA is not None
    rows = report_rows(name, REAL_DATA / "TESTCHL.dat")
    assert {row["began_before"] for row in rows} == {2}
    found = "\n".join(lines_of(name, rows))
    heading = "From 2016/02/27,18:00:33.776724 to 2016/02/27,18:16:30.078918 duration"
    assert f"{heading} 956.302187 seconds" in found
    assert len(re.findall(r"duration [0-9.]+ seconds", found)) == 1
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

Lives = Sequence[Sequence[float]]
"""Seconds of intervals of a queue manager that starts so often, which follow one another."""


def lives(of: Mapping[str, Lives], down: float = 300) -> list[bytes]:
    """Records of 115/1 of loggers that were busy for 35 %."""
    found = []
    for qmgr, parts in of.items():
        start = LOG_START
        for part in parts:
            for each in part:
                log = Log(counters={"qjstciwr": 1, "qjstlogw": 1}, sleep_us=round(0.65e6 * each))
                found.append(log_record(log, start=start, duration_us=round(each * 1e6), qmgr=qmgr))
                start += dt.timedelta(seconds=each)
            start += dt.timedelta(seconds=down)
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
IN_60 = "not in the median of 60 seconds"
MARKS: dict[str, list[str | None]] = {
    "STUB": [f"stub: 1 of 1, 0.78 seconds, as after a start, {IN_60}", "gap: 300 seconds", None],
    "ONLY": [
        "stub: 1 of 1, 0.74 seconds, as after a start",
        "stub: 1 of 1, 0.77 seconds, as after a start; gap: 300 seconds",
    ],
    # The first after START TRACE counts from the start of the queue manager.
    "BACK": [f"first: 1 of 1, 14183 seconds, covers what came before, {IN_60}", None, None, None],
    "GAPS": [
        *[None] * 3,
        f"first: 1 of 1, 400 seconds, covers what came before, {IN_60}; gap: 300 seconds",
        None,
    ],
    # The last one before a queue manager ends is short, and one that is late is long.
    "GOES": [None, None, "long: 1 of 1, median 60 seconds", *[None] * 9],
}


def test_intervals_of_starts_are_marked_and_stubs_do_not_make_the_median() -> None:
    """tests/calendar has the kinds of intervals, one by one."""
    rows = rows_from("log", *lives(STARTS))
    found = marks(rows)
    assert {qmgr: found[qmgr] for qmgr in MARKS} == MARKS
    assert found["MANY"][-1] == "gap: 300 seconds"
    stub = [row for row in rows if row["qmgr"] == "STUB"]
    lines = lines_of("log", stub)
    assert lines[1].endswith("duration 0.78 seconds.")
    assert lines[2] == f"Marked {MARKS['STUB'][0]}"
    assert [row["task_busy"] for row in stub] == NEAR([35] * 3, rel=1e-3)
    (whole,) = marks(rows_from("log", *lives({"MANY": STARTS["MANY"]}), sections=TOTAL))["MANY"]
    assert whole == (
        f"stub: 5 of 6, 4 seconds, as after a start, {IN_60}; gap: 1500 seconds; restart: 4"
    )
