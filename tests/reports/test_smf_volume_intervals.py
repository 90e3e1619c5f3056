"""The intervals that smf-volume goes by: with restarts in the input, and as IBM writes them."""

from __future__ import annotations

import csv
import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smfparse import open as open_smf
from smfparse.errors import RequestError
from smfparse.inputs import open_inputs
from tests.support import smf
from tests.support.builders import Write, rdw
from tests.support.command import run
from tests.support.report_runs import report_rows
from tests.support.searching import search
from tests.support.smf import ENDED, MINUTE, task, task_record, task_token

NEAR = pytest.approx
SECOND = dt.timedelta(seconds=1)
SEVEN = ("QMST", "QSPH", "QJST", "QIS1", "QPST", "QQST", "QCCT")
"""Blocks of statistics, a record each; that with QSPH does not show its interval."""
STUBS = (0.741, 0.765, 0.782, 0.782, 0.799)
"""Seconds of the intervals that restarts begin with."""
NOON = dt.datetime(2022, 7, 7, 12)


@dataclass(frozen=True)
class Life:
    """What a queue manager does from one start to the next.

    lengths  seconds of its intervals, each of which begins where the one before ended
    down     seconds until the next start
    """

    lengths: Sequence[float]
    down: float = 30


def statistics(lives: Iterable[Life], blocks: Sequence[str] = SEVEN) -> Iterator[bytes]:
    """Yield the records of statistics of the lives of a queue manager, one after the other."""
    start = NOON
    for life in lives:
        for length in life.lengths:
            for name in blocks:
                yield smf.record(smf.block(name), start=start, seconds=length)
            start += length * SECOND
        start += life.down * SECOND


def restarted(interval: int) -> list[Life]:
    """Four starts that fail, and one from which the queue manager goes on for two minutes."""
    return [
        *(Life([stub]) for stub in STUBS[:4]),
        Life([STUBS[4], *[interval] * (120 // interval)]),
    ]


def projected(path: Path, kind: str = "statistics", **asked: Any) -> dict[str, Any]:
    """Return the projection of one kind of records of the only queue manager."""
    rows = report_rows("smf-volume", path, **asked)
    (row,) = (row for row in rows if (row["line"], row["kind"]) == ("projection", kind))
    return row


def recomputed(path: Path) -> tuple[float, float]:
    """Return interval and seconds covered of the only queue manager, from its records."""
    rows = (
        pl.DataFrame(open_inputs([path]).arrow("record")).drop_nulls("interval_seconds").to_dicts()
    )
    for row in rows:
        row["end"] = row["interval_start"] + row["interval_seconds"] * SECOND
    going_on = [
        row["interval_seconds"]
        for row in rows
        if any(
            abs(row["interval_start"] - other["end"]) <= SECOND
            for other in rows
            if other["subtype"] == row["subtype"]
            and other["interval_start"] < row["interval_start"]
        )
    ]
    lengths = sorted(going_on or [row["interval_seconds"] for row in rows])
    interval = next(
        length
        for length, up_to in zip(lengths, accumulate(lengths), strict=True)
        if up_to >= sum(lengths) / 2
    )
    began = min(row["smf_time"] - min(row["interval_seconds"], interval) * SECOND for row in rows)
    return interval, (max(row["smf_time"] for row in rows) - began).total_seconds()


def test_five_restart_stubs_do_not_make_the_interval(write: Write) -> None:
    path = write(*statistics(restarted(60)))
    found = projected(path, statime="1.00")
    assert found["records"] == 49
    assert found["present_interval"] == 60
    assert found["projected_records"] == NEAR(49)
    assert found["projected_gb_day"] == NEAR(found["gb_day"])
    covered = sum(STUBS) + 4 * 30 + 120
    assert found["gb_day"] == NEAR(found["bytes"] / covered * 86400 / 1024**3, rel=1e-3)
    assert recomputed(path) == (60, NEAR(covered, abs=0.02))


@pytest.mark.parametrize(("asked", "interval"), [("0.15", 15), ("0.30", 30), ("2.00", 120)])
def test_the_projection_is_what_the_same_restarts_give_at_that_interval(
    write: Write, asked: str, interval: int
) -> None:
    """Each restart writes its stub again, at whatever interval."""
    there = len(list(statistics(restarted(interval))))
    assert projected(write(*statistics(restarted(60))), statime=asked)["projected_records"] == there


@pytest.mark.parametrize(
    "lives",
    [
        [Life([60]), *(Life([stub]) for stub in STUBS)],
        [*(Life([stub]) for stub in STUBS), Life([60])],
        [Life([60, 60, 2, 2, 2, 2, 2])],
        [Life([14_183, 60, 60])],
        [Life([60, 60], down=86_400), Life([60])],
        [Life([25, 60, 40]), Life([31, 60, 58]), Life([17, 60, 59])],
    ],
    ids=["before", "behind", "in a row", "back to a start", "gap", "parts at both ends"],
)
def test_neither_stubs_nor_gaps_move_the_interval(write: Write, lives: list[Life]) -> None:
    path = write(*statistics(lives))
    found = projected(path)
    assert found["present_interval"] == 60
    interval, covered = recomputed(path)
    assert interval == 60
    assert found["records_rate"] == NEAR(found["records"] / covered)


lengths = st.integers(1, 3600).map(float)


@search(6)
@given(data=st.data(), interval=lengths)
def test_the_interval_is_found_whatever_restarts_there_were(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, interval: float
) -> None:
    """A life is a part, whole intervals, and a part again; the first goes back to any start."""
    parts = st.floats(0.01, interval - 0.01).map(lambda each: round(each, 2))
    whole = st.integers(1, 3).map(lambda count: [interval] * count)
    life = st.builds(
        lambda first, middle, last, down: Life([first, *middle, last], down),
        parts, whole, parts, st.integers(2, 86_400),
    )  # fmt: skip
    lives = data.draw(st.lists(life, min_size=1, max_size=5))
    first = data.draw(st.none() | st.integers(1, 10**6).map(float))
    if first is not None:
        lives.insert(0, Life([first, *[interval] * 2]))
    path = tmp_path_factory.mktemp("lives") / "dump.smf"
    path.write_bytes(rdw(statistics(lives, ["QMST"])))
    found = projected(path)
    assert (found["present_interval"], recomputed(path)[0]) == (interval, interval)
    assert found["records_rate"] == NEAR(found["records"] / recomputed(path)[1])


def test_stubs_alone_show_no_interval(write: Write) -> None:
    path = write(*statistics(Life([stub]) for stub in STUBS))
    found = projected(path, statime="1.00")
    assert (found["present_interval"], found["projected_records"]) == (None, None)


def test_gaps_of_statistics_without_an_interval_do_not_move_how_far_apart_they_are(
    write: Write,
) -> None:
    half = 30 * MINUTE
    ends = [NOON + n * half for n in range(4)] + [NOON + 2 * dt.timedelta(days=1) + half]
    path = write(
        *(smf.record(smf.block("QJST"), start=end - SECOND, interval=False) for end in ends)
    )
    assert projected(path)["present_interval"] == NEAR(1800)


def test_tasks_that_began_before_the_trace_do_not_make_the_accounting_interval(
    write: Write,
) -> None:
    """And those whose interval is cut short, as they end."""
    found = []
    for number in range(3):
        token = task_token(number)
        back = task(token, wtasints=ENDED - 10_000 * SECOND, wtasinte=ENDED)
        found.append(task_record(back))
        for minute in (1, 2):
            ended = ENDED + minute * MINUTE
            found.append(task_record(task(token, ended=ended), ended=ended))
    assert projected(write(*found), "class 3 long-running")["present_interval"] == 60


@pytest.fixture
def minute(write: Write) -> Path:
    """Statistics of a minute, and a task and channels with an accounting interval of 30 seconds."""
    ends = (ENDED - 30 * SECOND, ENDED)
    tasks = (
        task_record(task(ended=end, wtasints=end - 30 * SECOND, wtasinte=end), ended=end)
        for end in ends
    )
    east = smf.WEST
    local = (ENDED + east).replace(tzinfo=None)
    whole = {"start": local - MINUTE, "seconds": 60, "east": east}
    parts = ({"start": local - n * 30 * SECOND, "seconds": 30, "east": east} for n in (2, 1))
    return write(
        smf.record(smf.block("QMST"), **whole),
        *tasks,
        *(smf.record(smf.block("QCST"), **part) for part in parts),
    )


LONG = "class 3 long-running"


@pytest.mark.claim(19)
@pytest.mark.parametrize(
    ("asked", "then"),
    [
        ({"acctime": "-1"}, {"statistics": (None, 1), LONG: (60, 1), "class 4": (60, 1)}),
        ({"acctime": -1, "statime": "0.15"}, {"statistics": (15, 4), LONG: (15, 4)}),
        ({"acctime": "0", "smf_interval": "0.10"}, {"statistics": (None, 1), LONG: (10, 6)}),
        ({"acctime": 0, "smf_interval": "2.00"}, {LONG: (120, 0.5), "class 4": (120, 0.5)}),
        ({"statime": "0", "smf_interval": "0.20"}, {"statistics": (20, 3), LONG: (None, 2)}),
        (
            {"acctime": "-1", "statime": 0, "smf_interval": "0.20"},
            {"statistics": (20, 3), LONG: (20, 3)},
        ),
        ({"acctime": "0.15", "smf_interval": "30"}, {"statistics": (None, 1), LONG: (15, 4)}),
    ],
    ids=str,
)
def test_intervals_are_asked_for_as_the_queue_manager_takes_them(
    minute: Path, asked: dict[str, Any], then: dict[str, tuple[float | None, float]]
) -> None:
    found = {
        row["kind"]: (row["asked_interval"], row["projected_records"])
        for row in open_smf(minute).report("smf-volume", **asked).to_pylist()
        if row["line"] == "projection" and row["kind"] in then
    }
    assert found == {kind: (each, NEAR(records)) for kind, (each, records) in then.items()}


def test_acctime_that_is_statime_is_not_known_without_statistics(write: Write) -> None:
    path = write(task_record(task()), task_record(task(ended=ENDED + MINUTE), ended=ENDED + MINUTE))
    found = projected(path, LONG, acctime="-1")
    assert (found["present_interval"], found["asked_interval"]) == (60, None)
    assert found["projected_records"] is None
    assert projected(path, LONG, acctime="-1", statime="0.30")["projected_records"] == NEAR(4)


def test_each_queue_manager_has_its_own_statime_for_acctime(write: Write) -> None:
    """Where those of a row differ there is no one interval."""
    path = write(
        *(
            smf.record(smf.block(name), start=NOON, seconds=seconds, qmgr=qmgr)
            for qmgr, seconds, name in (
                ("VTS1", 60, "QMST"), ("VTS2", 20, "QMST"), ("VTS1", 60, "QCST"),
                ("VTS2", 60, "QCST"),
            )
        )
    )  # fmt: skip
    rows = report_rows("smf-volume", path, acctime="-1")
    assert [
        (row["asked_interval"], row["projected_records"])
        for row in rows
        if (row["line"], row["kind"]) == ("projection", "class 4")
    ] == [(60, NEAR(1)), (20, NEAR(3))]
    both = projected(path, "class 4", acctime="-1", by="system")
    assert (both["asked_interval"], both["projected_records"]) == (None, NEAR(4))


@pytest.mark.parametrize("option", ["acctime", "statime"])
def test_the_smf_interval_has_to_be_given_where_it_is_asked_for(minute: Path, option: str) -> None:
    with pytest.raises(RequestError, match=rf"^{option}=0: .*; give smf_interval=MMMM\.SS"):
        open_smf(minute).report("smf-volume", **{option: 0})
    refused = run("report", "smf-volume", minute, f"--{option}", "0")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert f"--{option} 0: this is the SMF interval" in refused.stderr
    assert "give --smf-interval MMMM.SS" in refused.stderr


@pytest.mark.parametrize("arguments", [["--acctime", "-1"], ["--acctime=-1"]], ids=str)
def test_a_value_below_zero_is_taken_on_the_command_line(
    minute: Path, arguments: list[str]
) -> None:
    found = run("report", "smf-volume", minute, *arguments, "--format", "csv")
    assert found.exit_code == 0
    (row,) = (
        row
        for row in csv.DictReader(found.stdout.splitlines())
        if (row["Line"], row["Kind"]) == ("projection", LONG)
    )
    assert (row["Asked interval seconds"], row["Projected records"]) == ("60.000", "1")


def test_a_value_that_cannot_be_is_named_with_its_option(minute: Path) -> None:
    refused = run("report", "smf-volume", minute, "--statime", "-1")
    assert refused.exit_code == 2
    assert (
        "--statime -1: expected MMMM.SS, minutes and seconds; give 0.01 to 1440" in refused.stderr
    )
    assert "or 0 for the SMF interval" in refused.stderr
    refused = run("report", "smf-volume", minute, "--acctime", "-2")
    assert "--acctime -2: expected MMMM.SS" in refused.stderr
    assert "-1 for STATIME" in refused.stderr
