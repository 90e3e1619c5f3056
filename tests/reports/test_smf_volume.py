"""The report smf-volume: what the SMF data itself is, what makes it, and what it costs."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import smfparse
from smfparse import reports
from smfparse.planning import planned
from smfparse.reports import Sections, every
from smfparse.synthetic import generate
from tests.support import smf
from tests.support.builders import Write, foreign_record
from tests.support.fact_blocks import fact_block
from tests.support.paths import FIXTURES
from tests.support.report_runs import printed, report_rows
from tests.support.searching import search
from tests.support.smf import (
    ENDED,
    MINUTE,
    WEST,
    connection_record,
    more_queues,
    queue,
    task,
    task_record,
    task_token,
    who,
)

pytestmark = pytest.mark.slow

SHORT, LONG = "class 3 short-lived", "class 3 long-running"
SECOND = dt.timedelta(seconds=1)
MB = 1024 * 1024
NEAR = pytest.approx


def rows_of(
    *paths: Path, line: str | None = None, sections: Sections | None = None, **asked: Any
) -> list[dict[str, Any]]:
    """Return the rows of the report, or those of a kind of line."""
    rows = report_rows("smf-volume", *paths, sections=sections, **asked)
    return [row for row in rows if line in (None, row["line"])]


def by_kind(*paths: Path, qmgr: str | None = None, **asked: Any) -> dict[str, dict[str, Any]]:
    """Return the projection of one queue manager, or of the only one."""
    rows = rows_of(*paths, line="projection", **asked)
    return {row["kind"]: row for row in rows if qmgr in (None, row["qmgr"])}


def started(moment: dt.datetime, number: int = 1) -> bytes:
    """The token of a task that started at a moment."""
    block = fact_block("WTAS", 2344, wtasstrt=moment, wtaswtas=number)
    return block[8:24]


def worked(
    start: dt.datetime, seconds: float, token: bytes, *, last: bool = False, **more: Any
) -> bytes:
    """A 116/1 record of a task that puts once."""
    ended = start + seconds * SECOND
    flag = {"wtasflag": "WTASAEOT"} if last else {}
    block = task(token, ended=ended, wtasints=start, **flag)
    return task_record(block, queue("Q1", token, putn=1), ended=ended, **more)


def statistics(
    ended: dt.datetime, seconds: float, qmgr: str = "VTS1", duration: int | None = None
) -> bytes:
    """A 115/2 record with message manager statistics; duration: what it says, in microseconds."""
    start = (ended - seconds * SECOND + WEST).replace(tzinfo=None)
    block = smf.block("QMST")
    return smf.record(block, start=start, seconds=seconds, duration=duration, east=WEST, qmgr=qmgr)


@pytest.mark.parametrize("hours", [(2, 1), (1, 2), (1, 1)])
def test_what_is_covered_is_time_that_passed_when_the_clock_is_changed(
    write: Write, hours: tuple[int, int]
) -> None:
    """Half an hour from midnight UTC on, and the half hour an hour later; by two clocks."""
    midnight, hour = dt.datetime(2022, 10, 30), 60 * MINUTE
    path = write(
        *(
            smf.record(smf.block("QMST"), start=start + east * hour, seconds=1800, east=east * hour)
            for start, east in zip((midnight, midnight + 1.5 * hour), hours, strict=True)
        )
    )
    (row,) = rows_of(path, line="type")
    assert (row["records"], row["records_rate"]) == (2, NEAR(2 / 7200))


def channels(ended: dt.datetime, seconds: float) -> bytes:
    """A 116/10 record with a channel."""
    start = (ended - seconds * SECOND + WEST).replace(tzinfo=None)
    return smf.record(smf.block("QCST"), start=start, seconds=seconds, east=WEST)


def made(path: Path, interval: dt.timedelta, count: int, **more: Any) -> Path:
    """Generate a dump of two queue managers."""
    asked: dict[str, Any] = {
        "qmgrs": ["QM01", "QM02"],
        "system": "SYSA",
        "start": dt.datetime(2026, 3, 4, 9),
        "utc_offset": dt.timedelta(hours=1),
        "version": "9.4.0",
        "seed": 5,
        "tasks": 12,
        "queues": 2,
    }
    generate(path, interval=interval, count=count, **(asked | more))
    return path


def hundred_puts_a_second(seconds: int) -> list[bytes]:
    """A minute of a task that goes on, in records of so many seconds."""
    records = []
    for end in range(seconds, 61, seconds):
        ended = ENDED - MINUTE + end * SECOND
        block = task(ended=ended, wtasints=ended - seconds * SECOND)
        puts = queue("LQ1000", putn=100 * seconds)
        records.append(task_record(block, puts, ended=ended))
    return records


PLANNED = ("planned_records_day", "planned_mb_day", "planned_cpu_day")
"""What the planner fills in."""


@pytest.mark.parametrize("asked", [{}, {"acctime": "0.15"}])
def test_class_3_at_other_intervals_is_as_the_planner_says(
    write: Write, asked: dict[str, str]
) -> None:
    path = write(*hundred_puts_a_second(60))
    rows = rows_of(path, line="class 3", **asked)
    assert [row["plan_interval"] for row in rows] == ([15] if asked else [60, 300, 900, 1800])
    for row in rows:
        plan = planned(
            "smf", calls_a_second=100, tasks=1, interval=60, new_interval=row["plan_interval"],
            record_bytes=row["plan_bytes"],
        )  # fmt: skip
        assert (row["plan_tasks"], row["present_interval"]) == (NEAR(1), 60)
        of = ("new_records_a_day", "new_mb_a_day", "new_cpu_s_a_day")
        assert [row[name] for name in PLANNED] == [NEAR(plan[name]) for name in of]


def test_ibms_example_of_a_quarter_of_a_minute_by_hand(write: Write) -> None:
    (row,) = rows_of(write(*hundred_puts_a_second(60)), line="class 3", acctime="0.15")
    assert row["planned_records_day"] == NEAR(86400 / 15)
    assert row["planned_mb_day"] == NEAR(5760 * row["plan_bytes"] / MB)
    assert row["planned_cpu_day"] == NEAR(3016 * 1440 / 1e6)


def test_tasks_of_no_interval_that_is_known_have_no_plan(write: Write) -> None:
    (row, *_) = rows_of(write(worked(ENDED - MINUTE, 0.5, task_token())), line="class 3")
    assert [row[name] for name in PLANNED] == [None] * 3


def test_class_5_at_other_intervals_is_as_the_planner_says(tmp_path: Path) -> None:
    path = made(tmp_path / "made.smf", dt.timedelta(minutes=10), 3)
    data = smfparse.open(path)
    taken = data.sql("SELECT sum(length) AS l FROM record WHERE type = 115 AND subtype = 216")
    rows_of_queues = data.sql("SELECT * FROM qqst").num_rows
    queues, bytes_each = rows_of_queues / 3, taken["l"][0].as_py() / rows_of_queues
    rows = rows_of(path, line="class 5", by="system")
    assert [row["plan_interval"] for row in rows] == [60, 300, 900, 1800]
    for row in rows:
        assert (row["plan_queues"], row["plan_bytes"]) == (queues, NEAR(bytes_each))
        then = row["plan_interval"]
        plan = planned("smf", queues=round(queues), bytes_a_queue=bytes_each, statime=then)
        assert row["planned_records_day"] == plan["queue_records_a_day"]
        assert row["planned_mb_day"] == NEAR(plan["queue_mb_a_day"])
        assert row["planned_mb_day"] == NEAR(queues * bytes_each * 86400 / then / MB)
    (asked,) = rows_of(path, line="class 5", by="system", statime="5.00")
    assert (asked["plan_interval"], asked["present_interval"]) == (300, 600)


def test_jobs_have_no_statistics_of_queues(tmp_path: Path) -> None:
    path = made(tmp_path / "made.smf", dt.timedelta(minutes=10), 1)
    assert rows_of(path, line="class 5", by="job") == []


def test_a_table_has_what_the_planner_fills_in_too(write: Write) -> None:
    path = write(*hundred_puts_a_second(60))
    found = smfparse.open(path).report("smf-volume", acctime="0.15")
    rows = [row for row in found.to_pylist() if row["line"] == "class 3"]
    assert [row["planned_cpu_day"] for row in rows] == [NEAR(3016 * 1440 / 1e6)]


@pytest.mark.parametrize(
    ("recorded", "acctime", "now", "then", "change"),
    [
        (60, "", (1, 4, 3004), (1, 4, 3004), "0"),
        (60, "0.15", (1, 4, 3004), (4, 16, 3016), "0.4"),
        (15, "", (4, 16, 3016), (4, 16, 3016), "0"),
        (15, "1.00", (4, 16, 3016), (1, 4, 3004), "-0.4"),
    ],
)
def test_class_3_costs_what_was_published(
    write: Write,
    recorded: int,
    acctime: str,
    now: tuple[int, int, int],
    then: tuple[int, int, int],
    change: str,
) -> None:
    path = write(*hundred_puts_a_second(recorded))
    (row,) = rows_of(path, line="cost", acctime=acctime)
    assert (row["calls"], row["gathering"]) == (6000, 3000)
    assert (row["records"], row["writing"], row["class_3_cpu"]) == now
    assert (row["projected_records"], row["projected_writing"], row["projected_cpu"]) == then
    figures = {each.name: each for each in reports.report("smf-volume").figures}
    assert figures["cpu_change"].shown(row["cpu_change"]) == change
    assert row["cpu_share"] == NEAR(100 * now[2] / 60e6)
    assert row["class_3_cpu_at_worst"] == 3000 + 36 * now[0]
    assert row["projected_cpu_at_worst"] == 3000 + 36 * then[0]


def test_a_minute_to_a_quarter_of_it_is_four_times_what_the_intervals_make(write: Write) -> None:
    long, short = started(ENDED - 100 * MINUTE), started(ENDED - 20 * SECOND, 2)
    path = write(
        worked(ENDED - MINUTE, 60, long),
        worked(ENDED - 20 * SECOND, 10, short, last=True),
        statistics(ENDED, 60),
        channels(ENDED, 60),
        connection_record(),
    )
    found = by_kind(path, acctime="0.15", statime="0.15")
    times = {kind: row["projected_records"] / row["records"] for kind, row in found.items()}
    assert times == {
        "class 1": 1, SHORT: 1, LONG: 4, "class 4": 4, "statistics": 4, "total": 14 / 5
    }  # fmt: skip
    for kind, row in found.items():
        if kind != "total":
            assert row["projected_mb_rate"] == NEAR(times[kind] * row["mb_rate"])
            assert row["projected_gb_day"] == NEAR(times[kind] * row["gb_day"])
    assert found[LONG]["gb_day"] == NEAR(found[LONG]["bytes"] / 60 * 86400 / 1024**3)
    one = by_kind(path, acctime="0.15")
    assert one["statistics"]["projected_records"] == 1
    assert one["class 4"]["projected_records"] == 4


def test_what_is_not_asked_for_stays_as_it_is(write: Write) -> None:
    path = write(worked(ENDED - MINUTE, 60, task_token()), statistics(ENDED, 60))
    for row in by_kind(path).values():
        assert row["asked_interval"] is None
        assert row["projected_records"] == row["records"]
        assert row["projected_rate"] == row["records_rate"]
        assert row["projected_mb_rate"] == row["mb_rate"]


def test_what_scales_with_an_interval_that_is_not_known_has_no_projection(write: Write) -> None:
    token = task_token()
    path = write(worked(ENDED - MINUTE, 60, token, last=True), connection_record())
    found = by_kind(path, acctime="0.15")
    assert found[LONG]["present_interval"] is None
    assert found[LONG]["projected_records"] is None
    assert found["total"]["projected_records"] is None
    assert found["class 1"]["projected_records"] == 1


def test_an_interval_of_an_absurd_length_is_none(write: Write) -> None:
    path = write(statistics(ENDED - MINUTE, 60), statistics(ENDED, 60, duration=2**64 - 1))
    found = by_kind(path, statime="0.30")["statistics"]
    assert (found["present_interval"], found["projected_records"]) == (60, 4)


def test_a_task_is_short_lived_if_one_record_tells_its_whole_life(write: Write) -> None:
    begin = ENDED - 10 * MINUTE
    late, old, twice = (
        started(begin + 1.5 * MINUTE, 2),
        started(begin - MINUTE, 3),
        started(begin, 4),
    )
    path = write(
        worked(begin, 60, started(begin - 100 * MINUTE)),
        worked(begin + 2 * MINUTE, 5, late, last=True),
        worked(begin + 2 * MINUTE, 5, old, last=True),
        worked(begin, 60, twice),
        worked(begin + MINUTE, 5, twice, last=True),
        worked(begin + 3 * MINUTE, 7, started(begin + 3 * MINUTE, 5), last=True),
        worked(begin + 3 * MINUTE, 60, started(begin + 3 * MINUTE, 6)),
    )
    short, long = sorted(rows_of(path, line="tasks"), key=lambda row: row["records"])
    assert (short["kind"], short["tasks"], short["records"], short["longest"]) == (SHORT, 2, 2, 7)
    assert (long["kind"], long["tasks"], long["records"], long["task_records"]) == (
        LONG,
        4,
        5,
        1.25,
    )


def test_more_queues_of_a_task_are_as_its_first_record(write: Write) -> None:
    token, orphan = started(ENDED - 30 * SECOND), started(ENDED - 40 * SECOND, 2)
    path = write(
        worked(ENDED - 30 * SECOND, 30, token, last=True),
        more_queues(queue("Q2", token, putn=3)),
        more_queues(queue("Q3", token, putn=4)),
        more_queues(queue("Q4", orphan, putn=5)),
    )
    tasks = {row["kind"]: row for row in rows_of(path, line="tasks")}
    assert (tasks[SHORT]["tasks"], tasks[SHORT]["records"]) == (1, 3)
    assert (tasks[LONG]["tasks"], tasks[LONG]["records"]) == (1, 1)
    (cost,) = rows_of(path, line="cost")
    assert (cost["calls"], cost["records"]) == (13, 4)


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Seven intervals of 20 minutes that do not begin on the hour."""
    path = tmp_path_factory.mktemp("dump") / "dump.smf"
    return made(path, dt.timedelta(minutes=20), 7, start=dt.datetime(2026, 3, 4, 22, 50))


ADDITIVE = {
    "type": ("records", "bytes", "share"),
    "tasks": ("records", "bytes"),
    "projection": (
        "records", "bytes", "records_rate", "projected_records", "projected_rate",
        "projected_mb_rate",
    ),
    "cost": (
        "calls", "gathering", "records", "writing", "class_3_cpu", "class_3_cpu_at_worst",
        "projected_records", "projected_cpu",
    ),
}  # fmt: skip


def sums(rows: Sequence[dict[str, Any]]) -> dict[tuple[str, str], float]:
    return {
        (line, name): sum(row[name] for row in rows if row["line"] == line)
        for line, names in ADDITIVE.items()
        for name in names
    }


def test_the_rows_of_every_dimension_add_up_to_the_same(dump: Path) -> None:
    asked = {"acctime": "1.30", "statime": "5"}
    whole = sums(rows_of(dump, by="qmgr", **asked))
    assert all(whole.values())

    @search(6)
    @given(by=st.lists(st.sampled_from(["qmgr", "system", "job", "hour"]), min_size=1, unique=True))
    def check(by: list[str]) -> None:
        assert sums(rows_of(dump, by=",".join(by), **asked)) == NEAR(whole)

    check()


@pytest.mark.parametrize("length", ["1m", "15m", "1h", "1d"])
def test_intervals_add_up_to_the_whole(dump: Path, length: str) -> None:
    whole, parts = rows_of(dump), rows_of(dump, sections=every(length))
    for line, name in (("type", "records"), ("type", "bytes"), ("cost", "calls")):
        added, once = (
            sum(row[name] for row in rows if row["line"] == line) for rows in (parts, whole)
        )
        assert added == once
    for row in parts:
        assert row["bucket"] <= row["interval_start"]
        assert row["marks"] is None


def test_hours_have_what_smf_took_in_them(write: Write) -> None:
    half = 30 * MINUTE
    first = dt.datetime(2022, 7, 7, 13, 30, tzinfo=dt.UTC)
    path = write(*(statistics(first + n * half + 0.3 * SECOND, 1800) for n in range(4)))
    rows = rows_of(path, line="type", by="hour")
    assert [(row["hour"].hour, row["records"]) for row in rows] == [(9, 2), (10, 2)]
    for row in rows:
        assert row["records_rate"] == NEAR(2 / 3600, rel=1e-3)


def test_each_queue_manager_has_its_own_intervals(write: Write) -> None:
    quarter = [statistics(ENDED - 45 * SECOND + n * 15 * SECOND, 15, qmgr="VTS2") for n in range(4)]
    path = write(statistics(ENDED, 60), *quarter)
    slow, fast = rows_of(path, line="type")
    assert (slow["qmgr"], slow["records_rate"]) == ("VTS1", NEAR(1 / 60))
    assert (fast["qmgr"], fast["records_rate"]) == ("VTS2", NEAR(4 / 60))
    for qmgr, now, then in (("VTS1", 60, 2), ("VTS2", 15, 2)):
        row = by_kind(path, qmgr=qmgr, statime="0.30")["statistics"]
        assert (row["present_interval"], row["projected_records"]) == (now, then)
    both = by_kind(path, by="system", statime="0.30")["statistics"]
    assert both["present_interval"] is None
    assert (both["records"], both["projected_records"]) == (5, 4)


def test_jobs_are_those_of_class_1_and_3(write: Write) -> None:
    record = worked(ENDED - MINUTE, 60, task_token(), by=who("BATCH1"))
    more = more_queues(queue("Q2", task_token()), by=who("BATCH1"))
    path = write(record, more, connection_record("BATCH1"), connection_record("ONLINE"),
        statistics(ENDED, 60))  # fmt: skip
    rows = rows_of(path, line="type", by="job")
    found = [(row["job"], row["type"], row["subtype"], row["records"]) for row in rows]
    assert found == [
        ("BATCH1", 116, 0, 1), ("BATCH1", 116, 1, 1), ("BATCH1", 116, 2, 1), ("ONLINE", 116, 0, 1),
        (None, 115, 2, 1),
    ]  # fmt: skip


def test_statistics_without_an_interval_are_as_far_apart_as_they_came() -> None:
    """Old releases do not write the interval."""
    row = by_kind(FIXTURES / "qm60.smf", qmgr="QM60", statime="15")["statistics"]
    assert row["present_interval"] == NEAR(1800)
    assert row["projected_records"] == NEAR(2 * row["records"])


def test_records_of_other_programs_are_counted(write: Write) -> None:
    local = (ENDED + WEST).replace(tzinfo=None)
    others = [foreign_record(30, local - n * 10 * SECOND, system="MVAA") for n in range(3)]
    path = write(*others, foreign_record(99, local, system="MVAA"))
    rows = rows_of(path, line="type")
    assert [(row["qmgr"], row["type"], row["records"], row["bytes"]) for row in rows] == [
        (None, 30, 3, 54),
        (None, 99, 1, 18),
    ]
    assert rows[0]["records_rate"] == NEAR(3 / 20)
    assert by_kind(path).keys() == {"others", "total"}
    lines = list(printed(reports.report("smf-volume"), rows_of(path), "text"))
    assert lines[0].startswith("From 2022/07/07,10:41:50 to 2022/07/07,10:42:10, duration 20")


def test_records_of_no_queue_manager_cover_what_all_of_their_system_do(write: Write) -> None:
    local = (ENDED + WEST).replace(tzinfo=None)
    path = write(statistics(ENDED, 60), foreign_record(30, local, system="MVAA"))
    rates = [row["records_rate"] for row in rows_of(path, line="type")]
    assert rates == [NEAR(1 / 60)] * 2


def test_the_projection_is_near_what_shorter_intervals_give(tmp_path: Path) -> None:
    """Long-running tasks and statistics alone: short-lived ones come with each made interval.

    A tenth of a percent: intervals begin some milliseconds late, task by task.
    """
    slow = made(tmp_path / "slow.smf", MINUTE, 10)
    fast = made(tmp_path / "fast.smf", 15 * SECOND, 40)
    for qmgr in ("QM01", "QM02"):
        projected = by_kind(slow, qmgr=qmgr, acctime="0.15", statime="0.15")
        measured = by_kind(fast, qmgr=qmgr)
        for kind in (LONG, "class 4", "statistics"):
            assert projected[kind]["projected_records"] == NEAR(measured[kind]["records"], rel=1e-3)
            for name in ("projected_rate", "projected_mb_rate"):
                assert projected[kind][name] == NEAR(measured[kind][name], rel=1e-3)


def test_totals_are_for_the_eye_alone(dump: Path) -> None:
    which = reports.report("smf-volume")
    rows = rows_of(dump)
    text, table, objects = (list(printed(which, rows, form)) for form in ("text", "csv", "json"))
    assert "All records" in text
    assert not any(",all," in line for line in table)
    lines = {row["line"] for row in json.loads("\n".join(objects))["rows"]}
    assert lines == {"type", "tasks", "projection", "cost", "class 3", "class 5"}
