"""What compare divides by: the time of statistics while class 3 was on."""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Iterable
from pathlib import Path

import polars as pl
import pytest

from smfparse.inputs.opening import open_inputs
from smfparse.inputs.options import ReadOptions
from smfparse.summarizing.sides import Side, measured
from tests.support import smf
from tests.support.builders import put, rdw
from tests.support.command import run
from tests.support.real import REAL_DATA, needs_real_data
from tests.support.smf import ENDED, LATE, WEST, block, putting, queue, record, statistics, task

pytestmark = pytest.mark.slow

NEAR = pytest.approx


def side(path: Path) -> Side:
    return measured(open_inputs([path], ReadOptions(jobs=1)))


def rate(of: Side) -> float:
    return float(of.rows.filter(kind="calls")["calls"].sum() / of.total("calls"))


@needs_real_data
def test_without_statistics_calls_are_divided_by_what_tasks_cover() -> None:
    assert REAL_DATA is not None
    assert side(REAL_DATA / "TEST116.dat").total("calls") == NEAR(1.831, abs=0.001)


MINUTES = range(1, 5)
POPULATIONS: dict[str, tuple[list[bytes], dict[str, float]]] = {
    "a task that began hours before adds no time": (
        [putting(1, minutes=300), *map(putting, MINUTES), *map(statistics, MINUTES)],
        {"calls": 240, "tasks": 360, "rate": 300 / 240, "intervals": 4},
    ),
    "tasks cover an interval from the first start to the last end": (
        [putting(0.2, minutes=0.2), putting(1, minutes=0.4), *map(putting, range(3, 6))],
        {"calls": 240, "tasks": 240, "intervals": 4},
    ),
    "in the second half nothing was put; statistics around it are not its own": (
        [putting(3), putting(3, minutes=100), putting(6), *map(statistics, range(1, 10))],
        {"calls": 240, "message_manager": 540, "rate": 180 / 240},
    ),
    "class 3 was on for the first 1.5 seconds of the last interval": (
        [*map(putting, MINUTES), putting(4.025, minutes=0.025), *map(statistics, range(1, 6))],
        {"calls": 300, "message_manager": 300, "rate": 1},
    ),
    "where statistics are missing calls are divided by what tasks cover": (
        [*map(putting, range(1, 61)), *map(statistics, range(1, 11))],
        {"calls": 3600, "message_manager": 600, "rate": 1},
    ),
}


@pytest.mark.parametrize("why", POPULATIONS)
def test_calls_are_divided_by_the_time_of_statistics_while_class_3_was_on(why: str, tmp_path: Path):
    made, expected = POPULATIONS[why]
    found = side(put(tmp_path / "a.smf", *made))
    shown = {"rate": rate(found), "intervals": found.intervals}
    shown |= {kind: found.total(kind) for kind in ("calls", "tasks", "message_manager")}
    near = 0.03 if "missing" in why else 1e-5
    assert {name: shown[name] for name in expected} == NEAR(expected, rel=near)


def test_statistics_in_two_dumps_cover_their_time_once(tmp_path: Path) -> None:
    records = [*(putting(n) for n in (1, 2)), *(statistics(n) for n in (1, 2))]
    paths = [put(tmp_path / name, *records) for name in ("a.smf", "b.smf")]
    found = measured(open_inputs(paths, ReadOptions(jobs=1, keep_duplicates=True)))
    assert found.total("calls") == NEAR(120)


# Starts -----------------------------------------------------------------------------------------


def lives(path: Path, *parts: Iterable[float], down: float = 300, puts: int = 600) -> Path:
    """A dump of a queue manager that starts so often; intervals in seconds, a task in each.

    Each interval has `puts` puts, by its statistics and by its task, which writes a moment later.
    """
    found, start = [], ENDED
    for part in parts:
        for seconds in part:
            end = start + dt.timedelta(seconds=seconds)
            local = (start + WEST).replace(tzinfo=None)
            of_qmgr = block("QMST", qmstput=puts)
            found.append(record(of_qmgr, start=local, seconds=seconds, east=WEST))
            used = queue("Q1", putn=puts, putct=10 * puts, putet=20 * puts)
            times = {"wtasints": start + LATE, "wtasinte": end + LATE}
            found.append(
                smf.task_record(task(ended=end, **times), used, by=smf.who(), ended=end + LATE)
            )
            start = end
        start += dt.timedelta(seconds=down)
    return put(path, *found)


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("parts", "mark"),
    [
        ([[0.782, 60, 60, 60]], {"stub": 1}),
        ([[0.741], [0.765], [60, 60, 60]], {"stub": 2}),
        ([[14_183, 60, 60, 60]], {"first": 1}),
        ([[60, 60], [29, 60]], {"stub": 1}),
        ([[60], [400, 60]], {}),
        ([[60, 60, 60], [400, 60]], {"first": 1}),
        ([[60, 60, 60, 25]], {}),
    ],
    ids=["stub", "stubs", "back to a start", "part", "no two go on", "behind", "last"],
)
def test_intervals_of_a_start_are_left_out(
    tmp_path: Path, parts: list[list[float]], mark: dict[str, int]
) -> None:
    found = side(lives(tmp_path / "a.smf", *parts))
    kept = [seconds for part in parts for seconds in part if seconds == 60 or not mark]
    assert dict(found.left_out) == mark
    assert (found.total("message_manager"), found.total("calls")) == NEAR((sum(kept), sum(kept)))
    assert rate(found) == NEAR(len(kept) * 600 / sum(kept))


@pytest.mark.usefixtures("unjudged")
def test_the_text_of_a_comparison_says_what_is_left_out(tmp_path: Path) -> None:
    path = lives(tmp_path / "a.smf", [0.741], [0.782, 60, 60, 60])
    result = run("compare", path, path, "--by", "verb")
    (left_out,) = (
        re.split(" {2,}", each) for each in result.stdout.splitlines() if "Excluded" in each
    )
    assert left_out[1:] == ["2 stub", "2 stub"]
    assert result.stderr.count("time before the trace: 2 stub\n") == 2


@pytest.mark.usefixtures("unjudged")
def test_what_is_of_a_start_is_known_from_the_whole_input(tmp_path: Path) -> None:
    """Not from a side: its first interval, which is short here, goes on from the other side."""
    path = lives(tmp_path / "a.smf", [0.782, 60, 60, 60, 25, 60, 60])
    split = (ENDED + WEST + dt.timedelta(seconds=182)).replace(tzinfo=None).isoformat()
    result = run("compare", path, "--split-at", split, "--by", "verb", "--format", "json")
    found = json.loads(result.stdout)
    assert [found[name]["left_out"] for name in ("before", "after")] == [{"stub": 1}, {}]
    assert result.stderr.count("1 interval excluded") == 1
    for each in ("statistics_seconds", "class_3_seconds"):
        assert [found["before"][each], found["after"][each]] == NEAR([180, 145])
    rates = {(row["verb"], row["figure"]): (row["before"], row["after"]) for row in found["rows"]}
    for of_puts in (("put", "calls_per_second"), (None, "puts_per_second")):
        assert rates[of_puts] == NEAR((10, 1800 / 145))


def test_another_queue_manager_keeps_its_intervals(tmp_path: Path) -> None:
    path = lives(tmp_path / "a.smf", [0.782, 60, 60])
    others = [statistics(n, qmgr="VTS2") for n in (1, 2, 3)]
    path.write_bytes(path.read_bytes() + rdw(others))
    found = side(path)
    seconds = found.seconds.filter(kind="message_manager").group_by("qmgr").agg(pl.sum("seconds"))
    assert dict(seconds.iter_rows()) == NEAR({"VTS1": 120, "VTS2": 180})
    assert dict(found.left_out) == {"stub": 1}
