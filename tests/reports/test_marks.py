"""Which time a section's heading shows, and what is said of its intervals."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smfparse.inputs import open_inputs
from smfparse.reports import TOTAL, every
from tests.support.builders import rdw
from tests.support.generated import generate_dump
from tests.support.real import REAL_DATA, needs_real_data
from tests.support.report_runs import cells, report_lines, report_rows
from tests.support.searching import search
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


def dump(path: Path, records: Iterable[bytes]) -> Path:
    path.write_bytes(rdw(list(records)))
    return path


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


def rows_of(path: Path, table: str) -> pl.DataFrame:
    """Rows of a table with when their intervals end, UTC."""
    length = pl.duration(microseconds=(pl.col("interval_seconds") * 1e6).round().cast(pl.Int64))
    rows = pl.DataFrame(open_inputs([path]).arrow(table))
    return rows.with_columns(interval_end=pl.col("interval_start") + length)


# The time of a heading --------------------------------------------------------------------------


@needs_real_data
@pytest.mark.parametrize("name", OF_TASKS)
def test_a_heading_shows_the_time_that_statistics_cover(name: str) -> None:
    """Two tasks of TESTCHL began four hours before its first interval."""
    assert REAL_DATA is not None
    path = REAL_DATA / "TESTCHL.dat"
    covered, tasks = rows_of(path, "qmst"), rows_of(path, "wtas")
    before = tasks.filter(pl.col("interval_start") < covered["interval_start"].min())
    assert before.height == 2
    rows = report_rows(name, path, sections=TOTAL)
    assert rows
    for row in rows:
        assert row["interval_seconds"] == NEAR(covered["interval_seconds"].sum())
        assert row["interval_start"] == covered["interval_start"].min()
        assert row["interval_end"] == covered["interval_end"].max()
        assert row["began_before"] == before.height
        assert f"spanning: 2 of {tasks.height} began before" in row["marks"]


@needs_real_data
@pytest.mark.parametrize("name", OF_TASKS)
def test_text_and_csv_show_it_as_well(name: str) -> None:
    assert REAL_DATA is not None
    path = REAL_DATA / "TESTCHL.dat"
    found = "\n".join(report_lines(name, path))
    assert re.findall(r"duration ([0-9.]+) seconds", found) == ["956.302187"]
    assert "From 2016/02/27,18:00:33.776724 to 2016/02/27,18:16:30.078918 duration" in found
    assert "\nMarked spanning: 2 of 200 began before\n" in found
    for row in cells(report_lines(name, path, form="csv")):
        assert row["Interval seconds"] == "956.302187"
        assert row["Interval start"].replace("T", " ").startswith("2016-02-27 18:00:33")


@needs_real_data
def test_sections_of_the_clock_begin_no_earlier_than_the_statistics_around_them() -> None:
    assert REAL_DATA is not None
    path = REAL_DATA / "TESTCHL.dat"
    covered = rows_of(path, "qmst")
    tasks = rows_of(path, "wtas")
    second = dt.timedelta(seconds=1)
    longest = max(covered["interval_seconds"])
    rows = report_rows("qall", path, sections=every("1m"))
    for row in rows:
        inside = tasks.filter(pl.col("counted_at").dt.truncate("1m") == row["bucket"])
        around = covered.filter(
            (pl.col("interval_end") >= inside["interval_end"].min() - second)
            & (pl.col("interval_start") <= inside["interval_end"].max() - second)
        )
        own = around.filter(
            pl.col("counted_at").dt.truncate("1m") == row["bucket"], pl.col("interval_seconds") < 61
        )
        begins = max(inside["interval_start"].min(), around["interval_start"].min())
        ends = min(inside["interval_end"].max(), around["interval_end"].max())
        if own.height and tells_of(own, inside):
            begins, ends = own["interval_start"].min(), own["interval_end"].max()
        elif own.height:
            begins = max(inside["interval_start"].min(), covered["interval_start"].min())
            ends = inside["interval_end"].max()
        assert (row["interval_start"], row["interval_end"]) == (begins, ends)
        since = covered["interval_start"].min()
        lengths = [
            end - max(start, since) if since < end else end - start
            for start, end in inside.select("interval_start", "interval_end").iter_rows()
        ]
        whole = max(ends - begins, *lengths)
        assert row["interval_seconds"] == NEAR(whole.total_seconds())
        assert row["interval_seconds"] < 60 + longest
        start = row["bucket"] + dt.timedelta(hours=4)
        spanning = inside.filter(pl.col("interval_start").dt.replace_time_zone(None) < start).height
        assert row["began_before"] == spanning


def tells_of(statistics: pl.DataFrame, tasks: pl.DataFrame) -> bool:
    """Whether statistics cover when tasks ended, but for an interval before and behind."""
    length = (statistics["interval_end"] - statistics["interval_start"]).max()
    ends = tasks["interval_end"]
    return bool(
        ends.max() - statistics["interval_end"].max() <= length
        and statistics["interval_start"].min() - ends.min() <= length
    )


def test_a_first_record_of_hours_makes_no_section_as_long(tmp_path: Path) -> None:
    """It counts half an hour before its end, where statistics end too early to tell of it."""
    records = [*(statistics(n, 15) for n in range(15, 76, 15)), putting(75, 300), putting(60, 15)]
    found = report_rows("qputs", dump(tmp_path / "a.smf", records), sections=every("15m"))
    lengths = {row["bucket"]: row["interval_seconds"] for row in found}
    quarter = LOCAL.replace(hour=11, minute=15, second=0)
    assert lengths == NEAR({quarter: 75 * 60, quarter + 15 * MINUTE: 15 * 60})


def test_a_clock_that_is_finer_than_statistics_shows_the_time_of_its_tasks(
    tmp_path: Path,
) -> None:
    path = dump(
        tmp_path / "a.smf",
        [statistics(30, 30), *(putting(n, 5) for n in range(5, 31, 5)), putting(30, 90)],
    )
    found = sorted(report_rows("qall", path, sections=every("5m")), key=lambda row: row["bucket"])
    begin = LOCAL.replace(minute=40, second=0)
    assert [row["bucket"] for row in found] == [begin + n * MINUTE for n in range(0, 30, 5)]
    ends = [row["interval_end"] for row in found]
    long, *others = found
    assert (long["interval_start"], long["interval_end"]) == (ENDED, ENDED + 30 * MINUTE)
    assert long["interval_seconds"] == NEAR(1800)
    assert ends[1:] == [*(ENDED + n * MINUTE + LATE for n in (10, 15, 20, 25)), ends[0]]
    assert [row["interval_seconds"] for row in others] == NEAR([300] * 5)


def test_without_statistics_a_heading_shows_the_time_of_tasks(tmp_path: Path) -> None:
    path = dump(tmp_path / "a.smf", [putting(1), putting(2, 100)])
    (row,) = report_rows("qall", path)
    assert (row["interval_seconds"], row["began_before"], row["marks"]) == (6000, None, None)


def test_statistics_of_another_time_or_queue_manager_do_not_count(tmp_path: Path) -> None:
    """As where most of the records of statistics are lost."""
    path = dump(
        tmp_path / "a.smf",
        [
            *(putting(n) for n in range(1, 61)),
            *(statistics(n) for n in range(1, 11)),
            *(statistics(n, 20, qmgr="VTS2") for n in range(20, 61, 20)),
        ],
    )
    (row,) = report_rows("qall", path)
    assert row["interval_seconds"] == NEAR(3600)


def test_statistics_before_and_after_class_3_do_not_count(tmp_path: Path) -> None:
    path = dump(
        tmp_path / "a.smf",
        [putting(3), putting(3, 100), putting(6), *(statistics(n) for n in range(1, 10))],
    )
    (row,) = report_rows("qall", path)
    assert (row["interval_seconds"], row["began_before"]) == (NEAR(240), 1)
    assert row["interval_start"] == ENDED + 2 * MINUTE


def test_several_queue_managers_at_one_time_count_once(tmp_path: Path) -> None:
    records = [
        each
        for qmgr in ("VTS1", "VTS2")
        for n in (1, 2, 5)
        for each in (putting(n, qmgr=qmgr), statistics(n, qmgr=qmgr))
    ]
    for row in report_rows("api-cost", dump(tmp_path / "a.smf", records)):
        assert row["interval_seconds"] == NEAR(180)
    rows = report_rows("qall", tmp_path / "a.smf")
    assert [row["interval_seconds"] for row in rows] == NEAR([180, 180])


@pytest.mark.parametrize("seed", range(2))
def test_generated_headings_show_the_statistics_of_each_queue_manager(
    tmp_path: Path, seed: int
) -> None:
    path = generate_dump(tmp_path / "a.smf", seed=seed, count=2 + seed)
    covered, tasks = rows_of(path, "qmst"), rows_of(path, "wtas")
    for row in report_rows("tasksum", path):
        of_qmgr = covered.filter(qmgr=row["qmgr"])
        assert row["interval_seconds"] == NEAR(of_qmgr["interval_seconds"].sum())
        first = of_qmgr["interval_start"].min() - dt.timedelta(seconds=1)
        before = tasks.filter(pl.col("interval_start") < first, qmgr=row["qmgr"])
        assert row["began_before"] == before.height


# Starts -----------------------------------------------------------------------------------------


def log(start: float, seconds: float, **keys: Any) -> bytes:
    """A 115/1 record of an interval, by seconds since LOG_START: the logger was busy for 35 %."""
    figures = Log(counters={"qjstciwr": 1, "qjstlogw": 1}, sleep_us=round(0.65e6 * seconds))
    return log_record(
        figures,
        start=LOG_START + dt.timedelta(seconds=start),
        duration_us=round(seconds * 1_000_000),
        **keys,
    )


def lives(*parts: Iterable[float], down: float = 300) -> list[bytes]:
    """Records of a queue manager that starts so often, intervals following one another."""
    found, start = [], 0.0
    for part in parts:
        for seconds in part:
            found.append(log(start, seconds))
            start += seconds
        start += down
    return found


def marks(path: Path, name: str = "log", **asked: Any) -> list[str | None]:
    return [row["marks"] for row in report_rows(name, path, **asked)]


STUBS = (0.741, 0.765, 0.782, 0.782, 0.799)
"""Seconds of the intervals that five starts leave."""


def test_a_stub_of_a_start_shows_its_length_and_is_marked(tmp_path: Path) -> None:
    path = dump(tmp_path / "a.smf", lives([0.782], [60, 60]))
    lines = report_lines("log", path)
    assert lines[1].endswith("duration 0.78 seconds.")
    assert lines[2] == (
        "Marked stub: 1 of 1, 0.78 seconds, as after a start, not in the median of 60 seconds"
    )
    assert [row["task_busy"] for row in report_rows("log", path)] == NEAR([35] * 3, rel=1e-3)


def test_stubs_do_not_make_the_median(tmp_path: Path) -> None:
    """Before, an interval of a minute among them was long, and the median a second."""
    path = dump(tmp_path / "a.smf", lives(*([stub] for stub in STUBS), [60]))
    found = marks(path)
    assert found[-1] == "gap: 300 seconds"
    assert [bool(each and each.startswith("stub: 1 of 1, 0.")) for each in found] == [
        *[True] * 5,
        False,
    ]
    assert not any("long" in each for each in found if each)
    (whole,) = marks(path, sections=TOTAL)
    assert whole is not None
    assert whole.startswith("stub: 5 of 6, 4 seconds, as after a start, not in the median of 60")
    assert whole.endswith("; gap: 1500 seconds; restart: 4")  # the minute at the end is no shorter


def test_stubs_alone_have_no_median(tmp_path: Path) -> None:
    path = dump(tmp_path / "a.smf", lives(*([stub] for stub in STUBS[:2])))
    assert marks(path) == [
        "stub: 1 of 1, 0.74 seconds, as after a start",
        "stub: 1 of 1, 0.77 seconds, as after a start; gap: 300 seconds",
    ]


@pytest.mark.parametrize(("first", "mark"), [(14_183, "first"), (181, "first"), (180, "long")])
def test_a_first_interval_that_goes_back_is_marked(tmp_path: Path, first: float, mark: str) -> None:
    """As the first after START TRACE, which counts from the start of the queue manager."""
    found = marks(dump(tmp_path / "a.smf", lives([first, 60, 60, 60])))
    said = {
        "first": f"first: 1 of 1, {first} seconds, covers what came before, "
        "not in the median of 60 seconds",
        "long": "long: 1 of 1, median 60 seconds",
    }
    assert found == [said[mark], None, None, None]


def test_a_first_interval_behind_a_gap_is_marked(tmp_path: Path) -> None:
    found = marks(dump(tmp_path / "a.smf", lives([60, 60, 60], [400, 60])))
    assert found[3] == (
        "first: 1 of 1, 400 seconds, covers what came before, not in the median of 60 seconds; "
        "gap: 300 seconds"
    )
    assert [*found[:3], found[4]] == [None] * 4


def test_an_interval_that_goes_on_is_neither_stub_nor_first(tmp_path: Path) -> None:
    """The last one before a queue manager ends is short, and one that is late is long."""
    found = marks(dump(tmp_path / "a.smf", lives([60, 60, 400, *[60] * 8, 25])))
    assert found == [None, None, "long: 1 of 1, median 60 seconds", *[None] * 9]


def test_one_interval_behind_another_does_not_say_which_is_usual(tmp_path: Path) -> None:
    """The first is a whole one, if the queue manager ended in the second."""
    found = marks(dump(tmp_path / "a.smf", lives([1800, 300])))
    assert found == ["long: 1 of 1, median 300 seconds", None]


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


@search(10)
@given(data=st.data())
def test_intervals_are_judged_as_told(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    seconds = st.sampled_from([0.25, 0.75, 1.0, 10.0, 30.0, 60.0, 90.0, 100.0, 180.0, 200.0, 400.0])
    drawn = data.draw(st.lists(st.lists(seconds, min_size=1, max_size=6), min_size=1, max_size=5))
    path = dump(tmp_path_factory.mktemp("lives") / "a.smf", lives(*drawn))
    lengths = [
        (each, None if not life and not place else 300 if not place else 0)
        for life, part in enumerate(drawn)
        for place, each in enumerate(part)
    ]
    found = [(each or "typical").partition(":")[0] for each in marks(path)]
    found = ["typical" if each == "gap" else each for each in found]
    assert found == judged(lengths)
