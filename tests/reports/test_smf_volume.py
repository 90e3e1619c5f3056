"""The report smf-volume: what the SMF data itself is, what makes it, and what it costs.

Cases are in one input (`records`), at a queue manager each.
"""

from __future__ import annotations

import csv
import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from smfparse import open as open_smf
from smfparse.errors import RequestError
from smfparse.rendering.figures import STYLES
from smfparse.reports.declaration import report
from smfparse.reports.sections import every
from tests.support import smf
from tests.support.builders import foreign_record, put
from tests.support.command import run
from tests.support.report_runs import Rows, of, report_rows, rows_from, values
from tests.support.smf import (
    ENDED,
    MINUTE,
    WEST,
    connection_record,
    queue,
    task,
    task_record,
    token_of,
)

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
        yield task_record(block, queue("LQ1000", putn=100 * seconds), ended=ended, qmgr=qmgr)


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
    return put(tmp_path_factory.mktemp("volume") / "volume.smf", *records())


@pytest.fixture(scope="module")
def rows(path: Path) -> Rows:
    return report_rows("smf-volume", path)


@pytest.fixture(scope="module")
def quarters(path: Path) -> Rows:
    """The same, where intervals of a quarter of a minute are asked for."""
    return report_rows("smf-volume", path, acctime="0.15", statime="0.15")


def test_the_heading_begins_with_the_first_interval_of_class_3(tmp_path: Path) -> None:
    path = put(tmp_path / "class3.smf", *hundred_puts_a_second("M15", 15))
    assert {row["interval_seconds"] for row in report_rows("smf-volume", path)} == {60}
    alone = put(tmp_path / "alone.smf", smf.record(smf.block("QSPH")))
    [mark] = {row["marks"] for row in report_rows("smf-volume", alone)}
    assert mark == "moment: records without an interval are counted at their SMF time"


PLANNED = "planned_records_day planned_mb_day planned_cpu_day"
"""What the planner fills in."""


def test_class_3_at_other_intervals_is_as_in_ibms_example(rows: Rows, quarters: Rows) -> None:
    """Goldens have what the planner says of other intervals, and of class 5."""
    assert [row["plan_interval"] for row in of("class 3", rows, "M60")] == [60, 300, 900, 1800]
    (row,) = of("class 3", quarters, "M60")
    assert values(row, "plan_interval plan_tasks present_interval") == [15, NEAR(1), 60]
    by_hand = [86400 / 15, 5760 * row["plan_bytes"] / MB, 3016 * 1440 / 1e6]
    assert values(row, PLANNED) == NEAR(by_hand)
    assert values(of("class 3", rows, "NONE")[0], PLANNED) == [None] * 3


def test_class_3_costs_what_was_published(rows: Rows, quarters: Rows) -> None:
    (style,) = (each.style for each in report("smf-volume").figures if each.name == "cpu_change")
    for made, recorded, now, then, change in (
        (rows, "M60", (1, 4, 3004), (1, 4, 3004), "0"),
        (quarters, "M60", (1, 4, 3004), (4, 16, 3016), "0.4"),
        (rows, "M15", (4, 16, 3016), (4, 16, 3016), "0"),
    ):
        (row,) = of("cost", made, recorded)
        assert values(row, "calls gathering") == [6000, 3000]
        assert tuple(values(row, "records writing class_3_cpu")) == now
        assert tuple(values(row, "projected_records projected_writing projected_cpu")) == then
        assert STYLES[style][0](row["cpu_change"]) == change
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


# Intervals: with restarts in the input, and as IBM writes them ------------------------------------


DOWN = 30
"""Seconds until the next start."""
Lives = Sequence[Sequence[float]]
"""Seconds of the intervals of a queue manager from each start."""
LIVES: Mapping[str, tuple[Lives, float | None, float]] = {
    "PART": ([[30, 60, 60, 20]], 60, 170),
    "MORE": ([[30.25, 60, 60, 20], [0.75, 60, 60, 60, 7], [59.9, 60]], 60, 538.9 - 1),
    # The first after START TRACE counts from the start of the queue manager.
    "BACK": ([[14_183, 60, 60]], 60, 180),
    "LATE": ([[10**6, 3600, 3600], [1.5, 3600, 0.5]], 3600, 3 * 3600 + DOWN + 3602),
    "STUB": ([[0.741], [0.765], [0.799]], None, 2 * DOWN + 2.305),  # stubs alone show none
}
"""By queue manager: its lives, the interval that is found, and the seconds that are covered."""


def statistics_of(qmgr: str, lives: Lives) -> Iterator[bytes]:
    """Yield the records of statistics of the lives of a queue manager, one after the other."""
    start = dt.datetime(2022, 7, 7, 12)
    for life in lives:
        for length in life:
            yield smf.record(smf.block("QMST"), start=start, seconds=length, qmgr=qmgr)
            start += length * SECOND
        start += DOWN * SECOND


def test_the_interval_is_found_whatever_restarts_there_were() -> None:
    """The times at which SMF took records are in hundredths."""
    made = [each for qmgr, (lives, *_) in LIVES.items() for each in statistics_of(qmgr, lives)]
    rows = of("projection", rows_from("smf-volume", *made))
    found = {row["qmgr"]: row for row in rows if row["kind"] == "statistics"}
    for qmgr, (_, interval, covered) in LIVES.items():
        row = found[qmgr]
        assert row["present_interval"] == interval
        if interval:
            assert row["records"] / row["records_rate"] == NEAR(covered, abs=0.03), qmgr


# Parts of a file ----------------------------------------------------------------------------------

MIDNIGHT = dt.datetime(2022, 7, 7)
TEN = 10 * MINUTE


def task_until(ended: dt.datetime, lasted: dt.timedelta, *by: bytes, **more: Any) -> bytes:
    """A record of a task, of local times that are UTC."""
    moment = ended.replace(tzinfo=dt.UTC)
    block = task(*by, ended=moment, wtasints=moment - lasted, **more)
    return task_record(block, queue("Q1", putn=1), ended=moment, east=0 * SECOND)


def job(first: int, last: int) -> bytes:
    """The only record of a task, by the minutes at which it began and ended."""
    started = (MIDNIGHT + first * MINUTE).replace(tzinfo=dt.UTC)
    token, length = token_of(first, started), (last - first) * MINUTE
    return task_until(MIDNIGHT + last * MINUTE, length, token, wtasflag="WTASAEOT")


def three_hours(*blocks: str, tasks: bool = True, **keys: Any) -> Iterator[bytes]:
    """Every ten minutes of three hours, statistics with such blocks and a record of a task."""
    for start in (MIDNIGHT + number * TEN for number in range(18)):
        for each in blocks:
            yield smf.record(smf.block(each), start=start, seconds=600, **keys)
        if tasks:
            yield task_until(start + TEN, TEN)


MQ_7: dict[str, Any] = {"interval": False, "release": "710"}
OF_HOURS: Mapping[str, list[bytes]] = {
    "statistics": [*three_hours("QMST")],
    "115/5 behind": [*three_hours("QMST", "QSPH")],
    "MQ 7": [*three_hours("QMST", **MQ_7)],
    "accounting alone": [*three_hours()],
    "long job": [*three_hours("QMST"), job(15, 85), job(75, 145)],
}
"""Records of three hours, six of a task in each."""


@pytest.mark.parametrize("kind", OF_HOURS)
def test_each_hour_of_a_file_is_divided_by_an_hour(kind: str) -> None:
    rows = of("projection", rows_from("smf-volume", *OF_HOURS[kind], sections=every("1h")))
    hours = [row for row in rows if row["kind"] == LONG and row["bucket"].hour < 3]
    assert [values(row, "records records_rate") for row in hours] == [[6, NEAR(6 / 3600)]] * 3


def test_statistics_of_mq_7_alone_cover_an_interval_each() -> None:
    made = three_hours("QMST", tasks=False, **MQ_7)
    (row,) = of("type", rows_from("smf-volume", *made))
    assert values(row, "records records_rate") == [18, NEAR(6 / 3600)]


def test_records_that_follow_others_or_the_dump_job_writes_add_no_time() -> None:
    """As a time of every day selects them: 115/5 of the next midnight, and the trailer."""
    tomorrow = MIDNIGHT + 24 * HOUR
    stub = smf.record(smf.block("QSPH"), start=tomorrow - TEN, seconds=600)
    made = [*three_hours("QMST"), stub, foreign_record(3, tomorrow, "MVAA")]
    rows = of("type", rows_from("smf-volume", *made))
    found = {(row["type"], row["subtype"]): row["records_rate"] for row in rows}
    records = {(3, None): 1, (115, 2): 18, (115, 5): 1, (116, 1): 18}
    assert found == {key: NEAR(count / 3 / 3600) for key, count in records.items()}


def test_an_hour_of_which_less_than_a_second_is_covered_has_no_rate() -> None:
    """SMF takes the last records of an hour moments behind it."""
    late = smf.record(smf.block("QCST"), start=MIDNIGHT + 2 * HOUR, seconds=3600.12)
    rows = of("type", rows_from("smf-volume", *three_hours("QMST", "QSPH"), late, by=["hour"]))
    found = {row["hour"].hour: row["records_rate"] for row in rows if row["subtype"] == 5}
    assert found == {0: NEAR(5 / 3600), 1: NEAR(6 / 3600), 2: NEAR(6 / 3600), 3: None}


# -- as IBM writes them: -1 for STATIME, 0 for the SMF interval


@pytest.fixture(scope="module")
def minute(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Statistics of a minute, and a task and channels with an accounting interval of 30 seconds."""
    ends, east = (ENDED - 30 * SECOND, ENDED), smf.WEST
    local = (ENDED + east).replace(tzinfo=None)
    records = [smf.record(smf.block("QMST"), start=local - MINUTE, seconds=60, east=east)]
    for number, end in enumerate(ends):
        block = task(ended=end, wtasints=end - 30 * SECOND, wtasinte=end)
        start = local - (2 - number) * 30 * SECOND
        records.append(task_record(block, ended=end))
        records.append(smf.record(smf.block("QCST"), start=start, seconds=30, east=east))
    return put(tmp_path_factory.mktemp("minute") / "minute.smf", *records)


@pytest.mark.claim(19)
@pytest.mark.parametrize(
    ("asked", "then"),
    [
        ({"acctime": "-1"}, {"statistics": (None, 1), LONG: (60, 1), "class 4": (60, 1)}),
        ({"acctime": -1, "statime": "0.15"}, {"statistics": (15, 4), LONG: (15, 4)}),
        ({"acctime": "0", "smf_interval": "0.10"}, {"statistics": (None, 1), LONG: (10, 6)}),
        ({"statime": "0", "smf_interval": "0.20"}, {"statistics": (20, 3), LONG: (None, 2)}),
        ({"acctime": "0.15", "smf_interval": "30"}, {"statistics": (None, 1), LONG: (15, 4)}),
    ],
    ids=str,
)
def test_intervals_are_asked_for_as_the_queue_manager_takes_them(
    minute: Path, asked: dict[str, Any], then: Mapping[str, tuple[float | None, float]]
) -> None:
    found = {
        row["kind"]: (row["asked_interval"], row["projected_records"])
        for row in report_rows("smf-volume", minute, **asked)
        if row["line"] == "projection" and row["kind"] in then
    }
    assert found == {kind: (each, NEAR(records)) for kind, (each, records) in then.items()}


def test_the_smf_interval_has_to_be_given_where_it_is_asked_for(minute: Path) -> None:
    with pytest.raises(RequestError, match=r"^statime=0: .*; give smf_interval=MMMM\.SS"):
        open_smf(minute).report("smf-volume", statime=0)
    refused = run("report", "smf-volume", minute, "--acctime", "0")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "--acctime 0: this is the SMF interval" in refused.stderr
    assert "give --smf-interval MMMM.SS" in refused.stderr


def test_a_value_below_zero_is_taken_on_the_command_line(minute: Path) -> None:
    for arguments in (["--acctime", "-1"], ["--acctime=-1"]):
        found = run("report", "smf-volume", minute, *arguments, "--format", "csv", code=0)
        rows = csv.DictReader(found.stdout.splitlines())
        (row,) = (row for row in rows if (row["Line"], row["Kind"]) == ("projection", LONG))
        assert (row["Asked interval seconds"], row["Projected records"]) == ("60.000", "1")
