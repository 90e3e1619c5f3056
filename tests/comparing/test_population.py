"""What compare divides by: the time of statistics while class 3 was on."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from smfparse.comparing import Side, measured
from smfparse.inputs import ReadOptions, open_inputs
from tests.support.builders import rdw
from tests.support.command import run
from tests.support.real import REAL_DATA, needs_real_data
from tests.support.smf import ENDED, MINUTE, WEST, block, queue, record, task, task_record, who

pytestmark = pytest.mark.slow

NEAR = pytest.approx
LATE = dt.timedelta(microseconds=200)
"""How long after an interval of statistics a task writes its record."""


def dump(path: Path, records: Iterable[bytes]) -> Path:
    path.write_bytes(rdw(list(records)))
    return path


def side(path: Path) -> Side:
    return measured(open_inputs([path], ReadOptions(jobs=1)))


def rate(of: Side) -> float:
    """Calls a second of all verbs."""
    return float(of.rows.filter(kind="calls")["calls"].sum() / of.total("calls"))


def putting(minute: float, puts: int = 60, minutes: float = 1) -> bytes:
    """A task that puts for some minutes, until so many after ENDED and a moment."""
    ended = ENDED + minute * MINUTE + LATE
    used = queue("Q1", putn=puts, putct=10 * puts, putet=20 * puts)
    began = ended - minutes * MINUTE
    return task_record(task(ended=ended, wtasints=began), used, by=who(), ended=ended)


def statistics(minute: float, minutes: float = 1, **keys: Any) -> bytes:
    """A record of statistics that ends so many minutes after ENDED."""
    start = (ENDED + WEST).replace(tzinfo=None) + (minute - minutes) * MINUTE
    return record(block("QMST", qmstput=60), start=start, seconds=60 * minutes, east=WEST, **keys)


@needs_real_data
def test_without_statistics_calls_are_divided_by_what_tasks_cover() -> None:
    assert REAL_DATA is not None
    path = REAL_DATA / "TEST116.dat"
    lines = run("compare", path, path).stdout.splitlines()
    assert lines[5].split()[:5] == ["Seconds", "of", "class", "3", "1.831"]


def test_a_task_that_began_hours_before_adds_no_time(tmp_path: Path) -> None:
    minutes = range(1, 5)
    made = [putting(1, minutes=300), *map(putting, minutes), *map(statistics, minutes)]
    found = side(dump(tmp_path / "a.smf", made))
    assert found.total("calls") == NEAR(240)
    assert found.total("tasks") == NEAR(360, abs=1e-3)
    assert rate(found) == NEAR(300 / 240)
    assert found.intervals == 4


def test_tasks_of_an_interval_cover_it_from_the_first_start_to_the_last_end(
    tmp_path: Path,
) -> None:
    tasks = [putting(0.2, minutes=0.2), putting(1, minutes=0.4)]
    tasks += [putting(n) for n in range(3, 6)]
    found = side(dump(tmp_path / "a.smf", tasks))
    assert found.intervals == 4
    assert found.total("tasks") == NEAR(240)
    assert found.total("calls") == NEAR(240)


def test_statistics_count_while_class_3_was_on(tmp_path: Path) -> None:
    """In its second half nothing was put, and statistics of the time around it are not its own."""
    made = [putting(3), putting(3, minutes=100), putting(6), *map(statistics, range(1, 10))]
    found = side(dump(tmp_path / "a.smf", made))
    assert found.total("calls") == NEAR(4 * 60)
    assert found.total("messages") == NEAR(9 * 60)
    assert rate(found) == NEAR(180 / 240)


def test_calls_where_statistics_are_missing_are_divided_by_what_tasks_cover(
    tmp_path: Path,
) -> None:
    """Statistics of the first ten minutes of an hour."""
    made = [*map(putting, range(1, 61)), *map(statistics, range(1, 11))]
    found = side(dump(tmp_path / "a.smf", made))
    assert found.total("messages") == NEAR(600)
    assert found.total("calls") == NEAR(3600, rel=0.03)
    assert rate(found) == NEAR(1, rel=0.03)


def test_statistics_in_two_dumps_cover_their_time_once(tmp_path: Path) -> None:
    records = [*(putting(n) for n in (1, 2)), *(statistics(n) for n in (1, 2))]
    paths = [dump(tmp_path / name, records) for name in ("a.smf", "b.smf")]
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
            found.append(task_record(task(ended=end, **times), used, by=who(), ended=end + LATE))
            start = end
        start += dt.timedelta(seconds=down)
    return dump(path, found)


def compared_by_verb(path: Path) -> dict[str, Any]:
    asked = ("compare", path, path, "--by", "verb", "--format", "json")
    found: dict[str, Any] = json.loads(run(*asked).stdout)
    return found


@pytest.mark.sampled(2)
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
def test_intervals_of_a_start_are_left_out_and_said(
    tmp_path: Path, parts: list[list[float]], mark: dict[str, int]
) -> None:
    path = lives(tmp_path / "a.smf", *parts)
    kept = [seconds for part in parts for seconds in part]
    if mark:
        kept = [seconds for seconds in kept if seconds == 60]
    result = run("compare", path, path)
    found = compared_by_verb(path)
    assert [found[name]["left_out"] for name in ("before", "after")] == [mark, mark]
    assert found["before"]["statistics_seconds"] == NEAR(sum(kept))
    assert found["before"]["class_3_seconds"] == NEAR(sum(kept))
    expected = len(kept) * 600 / sum(kept)
    rates = {(row["verb"], row["figure"]): (row["before"], row["after"]) for row in found["rows"]}
    assert rates["put", "calls_per_second"] == NEAR((expected, expected))
    assert rates[None, "puts_per_second"] == NEAR((expected, expected))
    told = ", ".join(f"{number} {name}" for name, number in mark.items())
    shown = [line.split(maxsplit=3)[3:] for line in result.stdout.splitlines() if "left" in line]
    assert shown == (
        [[f"{told}{' ' * (len('2022/07/07,10:42:10') - len(told) + 2)}{told}"]] * bool(mark)
    )
    assert result.stderr.count(f"came before it: {told}\n") == 2 * bool(mark)
    assert ("left out" in result.stderr) == bool(mark)


def test_what_is_of_a_start_is_known_from_the_whole_input(tmp_path: Path) -> None:
    """Not from a side: its first interval, which is short here, goes on from the other side."""
    path = lives(tmp_path / "a.smf", [60, 60, 60, 25, 60, 60])
    split = (ENDED + WEST + dt.timedelta(seconds=181)).replace(tzinfo=None).isoformat()
    found = json.loads(run("compare", path, "--split-at", split, "--format", "json").stdout)
    assert [found[name]["left_out"] for name in ("before", "after")] == [{}, {}]
    assert found["after"]["statistics_seconds"] == NEAR(145)


def test_another_queue_manager_keeps_its_intervals(tmp_path: Path) -> None:
    path = lives(tmp_path / "a.smf", [0.782, 60, 60])
    others = [statistics(n, qmgr="VTS2") for n in (1, 2, 3)]
    path.write_bytes(path.read_bytes() + rdw(others))
    found = side(path)
    seconds = found.seconds.filter(kind="messages").group_by("qmgr").agg(pl.sum("seconds"))
    assert dict(seconds.iter_rows()) == NEAR({"VTS1": 120, "VTS2": 180})
    assert dict(found.left_out) == {"stub": 1}
