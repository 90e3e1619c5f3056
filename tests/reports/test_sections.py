"""Sections of a report: what goes into which, the time of its heading, and what is odd about it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from smfparse.inputs.opening import open_inputs
from smfparse.reports.sections import TOTAL, every
from smfparse.writing.dataset import write_dataset
from tests.support import smf
from tests.support.builders import Write
from tests.support.generated import generate_dump
from tests.support.report_runs import Rows, by_qmgr, lines_of, report_lines, report_rows, rows_from
from tests.support.smf import EAST, ENDED, LOG_START, MINUTE, Log, log_record, putting, statistics

pytestmark = pytest.mark.slow

NEAR = pytest.approx
HOUR = dt.timedelta(hours=1)


def interval(start: float, seconds: float, **keys: Any) -> bytes:
    """A 115/1 record of an interval, by seconds since LOG_START: the logger was busy for 35 %."""
    log = Log(counters={"qjstciwr": 1, "qjstlogw": 1}, sleep_us=round(0.65e6 * seconds))
    begin = LOG_START + dt.timedelta(seconds=start)
    return log_record(log, start=begin, duration_us=round(seconds * 1_000_000), **keys)


def test_gaps_and_overlaps_are_told_with_the_interval_behind_them(write: Write) -> None:
    path = write(*(interval(start, 60) for start in (0, 60, 240, 360, 390)))
    marks = ["gap: 120 seconds", "gap: 60 seconds", "overlap: 30 seconds"]
    assert [row["marks"] for row in report_rows("log", path)] == [None, None, *marks]
    (total,) = report_rows("log", path, sections=TOTAL)
    assert total["marks"] == "gap: 180 seconds; overlap: 30 seconds"


def task(number: int, begins: dt.datetime, ends: dt.datetime) -> bytes:
    """A 116/1 record of an interval of a task that put a message, times local."""
    begin, end = ((each - EAST).replace(tzinfo=dt.UTC) for each in (begins, ends))
    used = smf.queue("Q1", version=6, putn=10**number, validput=1)
    return smf.task_record(smf.task(ended=end, wtasints=begin), used, ended=end, east=EAST)


def test_an_interval_of_a_task_goes_whole_where_its_middle_is_and_is_marked(write: Write) -> None:
    nine = dt.datetime(2026, 3, 4, 9)
    spans = [[nine + each * MINUTE for each in span] for span in ((2, 15), (2, 16), (10, 24))]
    path = write(*(task(number, *span) for number, span in enumerate(spans)))
    found = report_rows("qputs", path, sections=every("15m"))
    assert [(row["bucket"], row["putn"], row["marks"]) for row in found] == [
        (nine, 11, None),
        (nine + 15 * MINUTE, 100, "spanning: 1 of 1 began before"),
    ]


def test_an_interval_that_cannot_be_spoils_no_other(write: Write) -> None:
    """QWHSDURN of a damaged record: thousands of years, and beyond what a date can be."""
    whole, minute = interval(60, 60), (60_000_000).to_bytes(8)
    place = whole.rindex(minute)
    for seconds in (4e11, 9.2e12):
        absurd = whole[:place] + round(seconds * 1e6).to_bytes(8) + whole[place + 8 :]
        path = write(interval(0, 60), absurd)
        assert len(report_rows("log", path)) == 2
        for sections in (TOTAL, every("1h")):
            rows = report_rows("log", path, sections=sections)
            assert [row["intervals"] for row in rows] == [1]
            assert lines_of("log", rows)


def test_the_same_interval_of_two_datasets_is_an_overlap(write: Write, tmp_path: Path) -> None:
    path = write(*(interval(60 * n, 60) for n in range(3)))
    datasets = [tmp_path / "tables", tmp_path / "again"]
    for each in datasets:
        write_dataset(open_inputs([path]), each)
    (row,) = report_rows("log", *datasets, sections=TOTAL)
    assert row["intervals"] == 6
    assert row["marks"] == "overlap: 180 seconds"


def test_a_section_of_one_queue_manager_has_the_keys_of_its_last_record(write: Write) -> None:
    path = write(interval(0, 60, release="930"), interval(60, 60, release="940"))
    (row,) = report_rows("log", path, sections=TOTAL)
    assert (row["mq_version"], row["record_no"]) == ("9.4.0", 2)


def test_only_statistics_of_the_time_and_queue_manager_of_tasks_count() -> None:
    """Others are before and after class 3, or of another; or most of the records are lost."""
    made = [
        *(putting(n, minutes=minutes, qmgr="NONE") for n, minutes in ((1, 1), (2, 100))),
        *(putting(n, qmgr="LOST") for n in range(1, 61)),
        *(statistics(n, qmgr="LOST") for n in range(1, 11)),
        *(statistics(n, 20, qmgr="VTS2") for n in range(20, 61, 20)),
        *(putting(n, minutes=minutes, qmgr="PART") for n, minutes in ((3, 1), (3, 100), (6, 1))),
        *(statistics(n, qmgr="PART") for n in range(1, 10)),
    ]
    rows = {row["qmgr"]: row for row in rows_from("qall", *made)}
    none, part = rows["NONE"], rows["PART"]
    assert (none["interval_seconds"], none["began_before"], none["marks"]) == (6000, 0, None)
    assert rows["LOST"]["interval_seconds"] == NEAR(3600)
    assert (part["interval_seconds"], part["began_before"]) == (NEAR(360), 1)
    assert part["interval_start"] == ENDED
    # A first record counts in an interval of the clock before all statistics, and ends in them.
    early = [putting(3, minutes=100), *(statistics(n) for n in range(1, 7))]
    (row,) = rows_from("qall", *early, sections=every("10m"))
    assert row["bucket"] + 10 * MINUTE < (ENDED + EAST).replace(tzinfo=None)
    assert (row["interval_start"], row["interval_seconds"]) == (ENDED, NEAR(180, rel=1e-5))


def test_queue_managers_of_one_name_on_several_systems_are_marked_where_they_are_added() -> None:
    for system, marks in (("MVAA", None), ("MVAB", "names: queue managers of several systems")):
        rows = rows_from("api-cost", putting(1), putting(2, system=system))
        assert {row["marks"] and row["marks"].split(" have ")[0] for row in rows} == {marks}


@pytest.mark.parametrize("name", ["msgm", "flow", "smf-volume"])
def test_a_section_has_the_times_of_both_clocks_at_a_change(name: str, tmp_path: Path) -> None:
    """Two hours from midnight of a clock, and the two hours behind them by another."""
    for before, after, end in ((1, 2, "05"), (2, 1, "03")):
        second = dt.datetime(2026, 10, 25) + (2 + after - before) * HOUR
        paths = [
            generate_dump(
                tmp_path / f"{before}{hours}.smf", start=at, utc_offset=hours * HOUR, count=4
            )
            for hours, at in ((before, dt.datetime(2026, 10, 25)), (after, second))
        ]
        lines = report_lines(name, *paths, sections=TOTAL)
        (line,) = {each for each in lines if each.startswith("From 2026/")}
        assert f"25,00:00:00 to 2026/10/25,{end}:00:00, duration 14400" in line
    rows = report_rows(name, *paths, sections=every("1h"))
    assert next(row for row in rows if row["bucket"].hour == 1)["interval_seconds"] == NEAR(7200)


Lives = Sequence[Sequence[float]]
"""Seconds of intervals of a queue manager that starts so often, which follow one another."""


def lives(of: Mapping[str, Lives], down: float = 300) -> list[bytes]:
    found = []
    for qmgr, parts in of.items():
        start = 0.0
        for part in parts:
            for seconds in part:
                found.append(interval(start, seconds, qmgr=qmgr))
                start += seconds
            start += down
    return found


def marks(rows: Rows) -> dict[str, list[str | None]]:
    return {qmgr: [row["marks"] for row in of] for qmgr, of in by_qmgr(rows).items()}


STUBS = (0.741, 0.765, 0.782, 0.782, 0.799)
STARTS: dict[str, Lives] = {
    "STUB": [[0.782], [60, 60]], "MANY": [*([stub] for stub in STUBS), [60]],
    "ONLY": [[stub] for stub in STUBS[:2]], "BACK": [[14_183, 60, 60, 60]],
    "GAPS": [[60, 60, 60], [400, 60]], "GOES": [[60, 60, 400, *[60] * 8, 25]],
    "MORE": [[60, 60, *[600] * 8]], "LESS": [[600, 600, *[60] * 40]],
}  # fmt: skip
IN_60 = "not in the median of 60 seconds"
LONG = "long: 1 of 1, over 1.5 x the median of 60 seconds"
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
    "GOES": [None, None, LONG, *[None] * 9],
    # STATIME was changed.
    "MORE": [None] * 10,
    "LESS": [LONG, LONG, *[None] * 40],
}


def test_intervals_of_starts_are_marked_and_stubs_do_not_make_the_median() -> None:
    """tests/metrics has the kinds of intervals, one by one."""
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
