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
from tests.support.report_runs import Rows, lines_of, of, report_rows, rows_from, values
from tests.support.smf import ENDED, MINUTE, WEST, connection_record, queue, task, task_record

pytestmark = pytest.mark.slow

LONG = "class 3 long-running"
SECOND = dt.timedelta(seconds=1)
HOUR = dt.timedelta(hours=1)
MB = 1024 * 1024
NEAR = pytest.approx


def by_kind(rows: Rows, qmgr: str | None = None) -> dict[str, dict[str, Any]]:
    """Return the projection of one queue manager, or of the only one."""
    return {row["kind"]: row for row in of("projection", rows, qmgr)}


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


def alone(seconds: float, qmgr: str, **more: Any) -> bytes:
    """The only record of a task."""
    started = ENDED - MINUTE
    ended = started + seconds * SECOND
    block = task(ended=ended, wtasints=started, **more)
    return task_record(block, queue("Q1", putn=1), ended=ended, qmgr=qmgr)


def records() -> Iterator[bytes]:
    yield from hundred_puts_a_second("M60", 60)
    yield from hundred_puts_a_second("M15", 15)
    yield alone(0.5, "NONE")  # no interval that is known
    # A task that began earlier and ends: how long its intervals are is not known.
    yield alone(60, "ENDS", wtasflag="WTASAEOT")
    yield connection_record(qmgr="ENDS")
    yield statistics(ENDED - MINUTE, 60, "ODD")
    yield statistics(ENDED, 60, "ODD", duration=2**64 - 1)


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
    """And as IBM's example of a quarter of a minute, by hand. A golden has class 5."""
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
    by_hand = [86400 / 15, 5760 * row["plan_bytes"] / MB, 3016 * 1440 / 1e6]
    assert values(row, PLANNED) == NEAR(by_hand)
    assert values(of("class 3", rows, "NONE")[0], PLANNED) == [None] * 3


def test_class_3_costs_what_was_published(rows: Rows, quarters: Rows) -> None:
    figures = {each.name: each for each in reports.report("smf-volume").figures}
    for made, recorded, now, then, change in (
        (rows, "M60", (1, 4, 3004), (1, 4, 3004), "0"),
        (quarters, "M60", (1, 4, 3004), (4, 16, 3016), "0.4"),
        (rows, "M15", (4, 16, 3016), (4, 16, 3016), "0"),
    ):
        (row,) = of("cost", made, recorded)
        assert values(row, "calls gathering") == [6000, 3000]
        assert tuple(values(row, "records writing class_3_cpu")) == now
        assert tuple(values(row, "projected_records projected_writing projected_cpu")) == then
        assert figures["cpu_change"].shown(row["cpu_change"]) == change
        assert row["cpu_share"] == NEAR(100 * now[2] / 60e6)
        worst = [3000 + 36 * now[0], 3000 + 36 * then[0]]
        assert values(row, "class_3_cpu_at_worst projected_cpu_at_worst") == worst


def test_what_scales_with_an_interval_that_is_not_known_has_no_projection(quarters: Rows) -> None:
    """An interval of an absurd length is none."""
    names = "present_interval projected_records"
    ends, odd = by_kind(quarters, "ENDS"), by_kind(quarters, "ODD")
    assert values(ends[LONG], names) == [None, None]
    assert ends["total"]["projected_records"] is None
    assert ends["class 1"]["projected_records"] == 1
    assert values(odd["statistics"], names) == [60, 8]


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
