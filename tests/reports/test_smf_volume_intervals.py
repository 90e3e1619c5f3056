"""The intervals that smf-volume goes by: with restarts in the input, and as IBM writes them."""

from __future__ import annotations

import csv
import datetime as dt
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smfparse import open as open_smf
from smfparse.errors import RequestError
from tests.support import smf
from tests.support.builders import rdw
from tests.support.command import run
from tests.support.report_runs import report_rows, rows_from
from tests.support.searching import search
from tests.support.smf import ENDED, MINUTE, task, task_record

pytestmark = pytest.mark.slow

NEAR = pytest.approx
SECOND = dt.timedelta(seconds=1)
NOON = dt.datetime(2022, 7, 7, 12)
LONG = "class 3 long-running"


class Life(NamedTuple):
    """Seconds of intervals that follow one another, and of the time until the next start."""

    lengths: Sequence[float]
    down: float = 30


def statistics(qmgr: str, lives: Iterable[Life]) -> Iterator[bytes]:
    """Yield the records of statistics of the lives of a queue manager, one after the other."""
    start = NOON
    for life in lives:
        for length in life.lengths:
            yield smf.record(smf.block("QMST"), start=start, seconds=length, qmgr=qmgr)
            start += length * SECOND
        start += life.down * SECOND


def projections(
    rows: Iterable[dict[str, Any]], kind: str = "statistics"
) -> dict[str, dict[str, Any]]:
    """Return the projection of one kind of records by queue manager."""
    return {row["qmgr"]: row for row in rows if (row["line"], row["kind"]) == ("projection", kind)}


def covered(lives: Sequence[Life], interval: float) -> Any:
    """Return seconds from the first start, or an interval before the first end, to the last end.

    The times at which SMF took records are in hundredths.
    """
    passed = sum(sum(life.lengths) + life.down for life in lives) - lives[-1].down
    before = max(lives[0].lengths[0] - interval, 0)
    return NEAR(passed - before, abs=0.03)


@st.composite
def several_lives(draw: st.DrawFn) -> list[Life]:
    """A life is a part, whole intervals, and a part again; the first goes back to any start."""
    interval = float(draw(st.integers(1, 3600)))
    parts = st.floats(0.01, interval - 0.01).map(lambda each: round(each, 2))
    whole = st.integers(1, 3).map(lambda count: [interval] * count)
    life = st.builds(
        lambda first, middle, last, down: Life([first, *middle, last], down),
        parts, whole, parts, st.integers(2, 86_400),
    )  # fmt: skip
    lives = draw(st.lists(life, min_size=1, max_size=4))
    first = draw(st.none() | st.integers(1, 10**6).map(float))
    return lives if first is None else [Life([first, *[interval] * 2]), *lives]


@search(3)
@given(drawn=st.lists(several_lives(), min_size=4, max_size=8))
def test_the_interval_is_found_whatever_restarts_there_were(drawn: list[list[Life]]) -> None:
    records: list[bytes] = []
    for number, lives in enumerate(drawn):
        records += statistics(f"QM{number}", lives)
    records += statistics("STUB", (Life([stub]) for stub in (0.741, 0.765, 0.799)))
    found = projections(rows_from("smf-volume", *records))
    assert found["STUB"]["present_interval"] is None  # stubs alone show none
    for number, lives in enumerate(drawn):
        row, interval = found[f"QM{number}"], lives[-1].lengths[1]
        assert row["present_interval"] == interval
        assert row["records"] / row["records_rate"] == covered(lives, interval)


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
    path = tmp_path_factory.mktemp("minute") / "minute.smf"
    path.write_bytes(rdw(records))
    return path


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
        found = run("report", "smf-volume", minute, *arguments, "--format", "csv")
        assert found.exit_code == 0
        rows = csv.DictReader(found.stdout.splitlines())
        (row,) = (row for row in rows if (row["Line"], row["Kind"]) == ("projection", LONG))
        assert (row["Asked interval seconds"], row["Projected records"]) == ("60.000", "1")
