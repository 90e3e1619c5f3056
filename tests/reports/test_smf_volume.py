"""The report smf-volume: what the SMF data itself is, what makes it, and what it costs.

Cases are in one input (`records`), at a queue manager each.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from smfparse import reports
from smfparse.planning import planned
from tests.support import smf
from tests.support.builders import foreign_record, rdw
from tests.support.corpora import Corpora
from tests.support.generated import generate_dump
from tests.support.report_runs import lines_of, report_rows, rows_from
from tests.support.smf import (
    ENDED,
    MINUTE,
    WEST,
    connection_record,
    fact_block,
    more_queues,
    queue,
    task,
    task_record,
    task_token,
)

pytestmark = pytest.mark.slow

SHORT, LONG = "class 3 short-lived", "class 3 long-running"
SECOND = dt.timedelta(seconds=1)
HOUR = dt.timedelta(hours=1)
MB = 1024 * 1024
NEAR = pytest.approx
Rows = list[dict[str, Any]]


def values(row: dict[str, Any], names: str) -> list[Any]:
    return [row[name] for name in names.split()]


def of(line: str, rows: Rows, qmgr: str | None = None) -> Rows:
    return [row for row in rows if row["line"] == line and qmgr in (None, row["qmgr"])]


def by_kind(rows: Rows, qmgr: str | None = None) -> dict[str, dict[str, Any]]:
    """Return the projection of one queue manager, or of the only one."""
    return {row["kind"]: row for row in of("projection", rows, qmgr)}


def started(moment: dt.datetime, number: int = 1) -> bytes:
    """The token of a task that started at a moment."""
    return fact_block("WTAS", 2344, wtasstrt=moment, wtaswtas=number)[8:24]


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


def hundred_puts_a_second(qmgr: str, seconds: int) -> Iterator[bytes]:
    """A minute of a task that goes on, in records of so many seconds."""
    for end in range(seconds, 61, seconds):
        ended = ENDED - MINUTE + end * SECOND
        block = task(ended=ended, wtasints=ended - seconds * SECOND)
        puts = queue("LQ1000", putn=100 * seconds)
        yield task_record(block, puts, ended=ended, qmgr=qmgr)


def lives(qmgr: str) -> Iterator[bytes]:
    """Four records of tasks that go on, and of two whose whole life one record has."""
    begin = ENDED - 10 * MINUTE
    late, old, twice = (
        started(begin + 1.5 * MINUTE, 2), started(begin - MINUTE, 3), started(begin, 4)
    )  # fmt: skip
    yield worked(begin, 60, started(begin - 100 * MINUTE), qmgr=qmgr)
    yield worked(begin + 2 * MINUTE, 5, late, last=True, qmgr=qmgr)
    yield worked(begin + 2 * MINUTE, 5, old, last=True, qmgr=qmgr)
    yield worked(begin, 60, twice, qmgr=qmgr)
    yield worked(begin + MINUTE, 5, twice, last=True, qmgr=qmgr)
    third = begin + 3 * MINUTE
    yield worked(third, 7, started(third, 5), last=True, qmgr=qmgr)
    yield worked(third, 60, started(third, 6), qmgr=qmgr)


def records() -> Iterator[bytes]:
    yield from hundred_puts_a_second("M60", 60)
    yield from hundred_puts_a_second("M15", 15)
    yield worked(ENDED - MINUTE, 0.5, task_token(), qmgr="NONE")  # no interval that is known
    # A record of each kind, from a minute.
    yield worked(ENDED - MINUTE, 60, started(ENDED - 100 * MINUTE), qmgr="KIND")
    yield worked(ENDED - 20 * SECOND, 10, started(ENDED - 20 * SECOND, 2), last=True, qmgr="KIND")
    yield statistics(ENDED, 60, "KIND")
    start = (ENDED - MINUTE + WEST).replace(tzinfo=None)
    yield smf.record(smf.block("QCST"), start=start, seconds=60, east=WEST, qmgr="KIND")
    yield connection_record(qmgr="KIND")
    # The only record of a task that began earlier: how long its intervals are is not known.
    yield worked(ENDED - MINUTE, 60, task_token(), last=True, qmgr="ENDS")
    yield connection_record(qmgr="ENDS")
    yield statistics(ENDED - MINUTE, 60, "ODD")
    yield statistics(ENDED, 60, "ODD", duration=2**64 - 1)
    yield from lives("LIFE")
    token, orphan = started(ENDED - 30 * SECOND), started(ENDED - 40 * SECOND, 2)
    yield worked(ENDED - 30 * SECOND, 30, token, last=True, qmgr="MORE")
    yield more_queues(queue("Q2", token, putn=3), qmgr="MORE")
    yield more_queues(queue("Q3", token, putn=4), qmgr="MORE")
    yield more_queues(queue("Q4", orphan, putn=5), qmgr="MORE")
    for number in range(4):
        yield statistics(ENDED - 45 * SECOND + number * 15 * SECOND, 15, "FAST")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("volume") / "volume.smf"
    path.write_bytes(rdw(records()))
    return path


@pytest.fixture(scope="module")
def rows(path: Path) -> Rows:
    return report_rows("smf-volume", path)


@pytest.fixture(scope="module")
def quarters(path: Path) -> Rows:
    """The same, where intervals of a quarter of a minute are asked for."""
    return report_rows("smf-volume", path, acctime="0.15", statime="0.15")


PLANNED = "planned_records_day planned_mb_day planned_cpu_day"
"""What the planner fills in."""


def test_class_3_at_other_intervals_is_as_the_planner_says(rows: Rows, quarters: Rows) -> None:
    """And as IBM's example of a quarter of a minute, by hand."""
    for found, intervals in ((rows, [60, 300, 900, 1800]), (quarters, [15])):
        lines = of("class 3", found, "M60")
        assert [row["plan_interval"] for row in lines] == intervals
        for row in lines:
            plan = planned(
                "smf", calls_a_second=100, tasks=1, interval=60, new_interval=row["plan_interval"],
                record_bytes=row["plan_bytes"],
            )  # fmt: skip
            assert values(row, "plan_tasks present_interval") == [NEAR(1), 60]
            expected = values(plan, "new_records_a_day new_mb_a_day new_cpu_s_a_day")
            assert values(row, PLANNED) == NEAR(expected)
    (row,) = of("class 3", quarters, "M60")
    by_hand = [86400 / 15, 5760 * row["plan_bytes"] / MB, 3016 * 1440 / 1e6]
    assert values(row, PLANNED) == NEAR(by_hand)
    assert values(of("class 3", rows, "NONE")[0], PLANNED) == [None] * 3


def test_class_5_at_other_intervals_is_as_the_planner_says(corpora: Corpora) -> None:
    new = corpora["new"]
    (taken,) = new.select(
        "SELECT sum(length) AS length, count(DISTINCT smf_time) AS intervals,"
        " (SELECT count(*) FROM qqst) AS queues FROM record WHERE type = 115 AND subtype = 216"
    )
    assert taken["queues"]
    bytes_each = float(taken["length"]) / taken["queues"]
    rows = of("class 5", new.rows("smf-volume", by="system"))
    assert [row["plan_interval"] for row in rows] == [60, 300, 900, 1800]
    for row in rows:
        assert row["plan_bytes"] == NEAR(bytes_each)
        queues, then = row["plan_queues"], row["plan_interval"]
        plan = planned("smf", queues=round(queues), bytes_a_queue=bytes_each, statime=then)
        assert row["planned_records_day"] == plan["queue_records_a_day"]
        assert row["planned_mb_day"] == NEAR(plan["queue_mb_a_day"])
        assert row["planned_mb_day"] == NEAR(queues * bytes_each * 86400 / then / MB)
    assert of("class 5", new.rows("smf-volume", by="job")) == []  # jobs have none


@pytest.mark.parametrize(
    ("recorded", "acctime", "now", "then", "change"),
    [
        ("M60", "", (1, 4, 3004), (1, 4, 3004), "0"),
        ("M60", "0.15", (1, 4, 3004), (4, 16, 3016), "0.4"),
        ("M15", "", (4, 16, 3016), (4, 16, 3016), "0"),
        ("M15", "1.00", (4, 16, 3016), (1, 4, 3004), "-0.4"),
    ],
)
def test_class_3_costs_what_was_published(
    path: Path,
    rows: Rows,
    quarters: Rows,
    recorded: str,
    acctime: str,
    now: tuple[int, int, int],
    then: tuple[int, int, int],
    change: str,
) -> None:
    made = {"": rows, "0.15": quarters}.get(acctime)
    made = report_rows("smf-volume", path, acctime=acctime) if made is None else made
    (row,) = of("cost", made, recorded)
    assert values(row, "calls gathering") == [6000, 3000]
    assert tuple(values(row, "records writing class_3_cpu")) == now
    assert tuple(values(row, "projected_records projected_writing projected_cpu")) == then
    figures = {each.name: each for each in reports.report("smf-volume").figures}
    assert figures["cpu_change"].shown(row["cpu_change"]) == change
    assert row["cpu_share"] == NEAR(100 * now[2] / 60e6)
    worst = [3000 + 36 * now[0], 3000 + 36 * then[0]]
    assert values(row, "class_3_cpu_at_worst projected_cpu_at_worst") == worst


def test_a_minute_to_a_quarter_of_it_is_four_times_what_the_intervals_make(
    quarters: Rows, path: Path
) -> None:
    found = by_kind(quarters, "KIND")
    times = {kind: row["projected_records"] / row["records"] for kind, row in found.items()}
    assert times == {
        "class 1": 1, SHORT: 1, LONG: 4, "class 4": 4, "statistics": 4, "total": 14 / 5
    }  # fmt: skip
    for kind, row in found.items():
        if kind != "total":
            assert row["projected_mb_rate"] == NEAR(times[kind] * row["mb_rate"])
            assert row["projected_gb_day"] == NEAR(times[kind] * row["gb_day"])
    assert found[LONG]["gb_day"] == NEAR(found[LONG]["bytes"] / 60 * 86400 / 1024**3)
    one = by_kind(report_rows("smf-volume", path, acctime="0.15"), "KIND")
    assert one["statistics"]["projected_records"] == 1
    assert one["class 4"]["projected_records"] == 4


def test_what_scales_with_an_interval_that_is_not_known_has_no_projection(quarters: Rows) -> None:
    found = by_kind(quarters, "ENDS")
    assert values(found[LONG], "present_interval projected_records") == [None, None]
    assert found["total"]["projected_records"] is None
    assert found["class 1"]["projected_records"] == 1


def test_an_interval_of_an_absurd_length_is_none(quarters: Rows) -> None:
    found = by_kind(quarters, "ODD")["statistics"]
    assert values(found, "present_interval projected_records") == [60, 8]


def test_a_task_is_short_lived_if_one_record_tells_its_whole_life(rows: Rows) -> None:
    tasks = {row["kind"]: row for row in of("tasks", rows, "LIFE")}
    assert values(tasks[SHORT], "tasks records longest") == [2, 2, 7]
    assert values(tasks[LONG], "tasks records task_records") == [4, 5, 1.25]


def test_more_queues_of_a_task_are_as_its_first_record(rows: Rows) -> None:
    tasks = {row["kind"]: row for row in of("tasks", rows, "MORE")}
    assert values(tasks[SHORT], "tasks records") == [1, 3]
    assert values(tasks[LONG], "tasks records") == [1, 1]
    (cost,) = of("cost", rows, "MORE")
    assert values(cost, "calls records") == [13, 4]


def test_each_queue_manager_has_its_own_intervals() -> None:
    made = [*(statistics(ENDED - n * 15 * SECOND, 15, "VTS2") for n in range(4))]
    made.append(statistics(ENDED, 60))
    each = rows_from("smf-volume", *made, statime="0.30")
    rates = {row["qmgr"]: row["records_rate"] for row in of("type", each)}
    assert rates == {"VTS1": NEAR(1 / 60), "VTS2": NEAR(4 / 60)}
    for qmgr, now in (("VTS1", 60), ("VTS2", 15)):
        row = by_kind(each, qmgr)["statistics"]
        assert values(row, "present_interval projected_records") == [now, 2]
    both = by_kind(rows_from("smf-volume", *made, by="system", statime="0.30"))["statistics"]
    assert values(both, "present_interval records projected_records") == [None, 5, 4]


@pytest.mark.parametrize("hours", [(2, 1), (1, 2)])
def test_what_is_covered_is_time_that_passed_when_the_clock_is_changed(
    hours: tuple[int, int],
) -> None:
    """Half an hour from midnight UTC on, and the half hour an hour later; by two clocks."""
    midnight = dt.datetime(2022, 10, 30)
    made = [
        smf.record(smf.block("QMST"), start=start + east * HOUR, seconds=1800, east=east * HOUR)
        for start, east in zip((midnight, midnight + 1.5 * HOUR), hours, strict=True)
    ]
    (row,) = of("type", rows_from("smf-volume", *made))
    assert values(row, "records records_rate") == [2, NEAR(2 / 7200)]


def test_records_of_other_programs_are_counted() -> None:
    """They cover what all of their system do."""
    local = (ENDED + WEST).replace(tzinfo=None)
    others = [foreign_record(30, local - n * 10 * SECOND, system="MVAA") for n in range(3)]
    made = rows_from("smf-volume", *others, foreign_record(99, local, system="MVAA"))
    found = of("type", made)
    assert [values(row, "qmgr type records bytes") for row in found] == [
        [None, 30, 3, 54],
        [None, 99, 1, 18],
    ]
    assert found[0]["records_rate"] == NEAR(3 / 20)
    assert by_kind(made).keys() == {"others", "total"}
    first = lines_of("smf-volume", made)[0]
    assert first.startswith("From 2022/07/07,10:41:50 to 2022/07/07,10:42:10, duration 20")
    beside = rows_from("smf-volume", statistics(ENDED, 60), others[0])
    assert [row["records_rate"] for row in of("type", beside)] == [NEAR(1 / 60)] * 2


def made(path: Path, interval: dt.timedelta, count: int) -> Rows:
    """Report a dump of two queue managers, at intervals of a quarter of a minute."""
    generate_dump(path, version="9.4.0", tasks=6, queues=2, interval=interval, count=count)
    return report_rows("smf-volume", path, acctime="0.15", statime="0.15")


def test_the_projection_is_near_what_shorter_intervals_give(tmp_path: Path) -> None:
    """Long-running tasks and statistics alone: short-lived ones come with each made interval.

    A tenth of a percent: intervals begin some milliseconds late, task by task.
    """
    slow = made(tmp_path / "slow.smf", MINUTE, 6)
    fast = made(tmp_path / "fast.smf", 15 * SECOND, 24)
    for qmgr in ("QM01", "QM02"):
        projected, measured = by_kind(slow, qmgr), by_kind(fast, qmgr)
        for kind in (LONG, "class 4", "statistics"):
            for name in ("records", "rate", "mb_rate"):
                present = measured[kind]["records_rate" if name == "rate" else name]
                assert projected[kind][f"projected_{name}"] == NEAR(present, rel=1e-3)
