"""smfparse trend: days against each other, of SMF files and of datasets."""

from __future__ import annotations

import csv
import datetime as dt
import json
from pathlib import Path

import pytest

from smfparse.simulating import load_estate, simulate
from tests.support.builders import foreign_record
from tests.support.command import run

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def week(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Simulated days from Wednesday to the Thursday of the next week, in intervals of six hours."""
    path = tmp_path_factory.mktemp("trend") / "week.smf"
    simulate(path, load_estate("payments", days=9, interval=dt.timedelta(hours=6)))
    return path


def test_the_last_day_is_compared_with_those_like_it(week: Path, tmp_path: Path) -> None:
    result = run("trend", week)
    assert (result.exit_code, result.stderr) == (0, "")
    found = result.stdout.splitlines()
    assert found[0] == "QM01 on SYSA, 9 days up to Thursday 2026/03/12"
    assert found[1] == "The last day is compared with 6 working days before it, hour by hour."
    assert max(map(len, found)) <= 118
    for label in ("Log written, MB/s", "31-bit storage used, %", "Job CPU, % of a CP"):
        assert any(each.startswith(label) for each in found)
    assert run("convert", week, "--to", tmp_path / "dataset").exit_code == 0
    assert run("trend", tmp_path / "dataset").stdout == result.stdout


def test_json_and_csv_have_the_figures_unrounded(week: Path) -> None:
    (found,) = json.loads(run("trend", week, "--format", "json").stdout)["managers"]
    assert (found["days"], found["last"], len(found["comparable"])) == (9, "2026-03-12", 6)
    assert found["new"] == {"channels": [], "queues": [], "jobs": []}
    rows = list(csv.DictReader(run("trend", week, "--format", "csv").stdout.splitlines()))
    assert len(rows) == len(found["figures"])
    for row, figure in zip(rows, found["figures"], strict=True):
        assert (row["name"], row["object"]) == (figure["name"], figure["object"])
        assert float(row["last"]) == figure["last"]
    assert "Page set used, %" in run("trend", week, "--format", "html").stdout


def test_days_are_those_of_the_zone_that_is_asked_for(week: Path) -> None:
    asked = ("--tz", "Asia/Dhaka", "--from", "2026-03-06", "--until", "2026-03-11")
    (found,) = json.loads(run("trend", week, *asked, "--format", "json").stdout)["managers"]
    assert (found["days"], found["last"]) == (6, "2026-03-11")
    (written,) = (each["last"] for each in found["figures"] if each["name"] == "log-written")
    same = ("--tz", "utc", "--from", "2026-03-10 18:00", "--until", "2026-03-11 17:59", "--total")
    log = json.loads(run("report", "log", week, *same, "--format", "json").stdout)["rows"]
    assert written == pytest.approx(log[0]["mb_per_second"], rel=1e-12)


def test_too_few_days_and_no_data_of_mq_are_said(week: Path, tmp_path: Path) -> None:
    result = run("trend", week, "--to", "2026-03-06")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [
        "QM01 on SYSA, 3 days up to Friday 2026/03/06",
        "Too few days to compare: 2 working days before it, and at least 3 are needed.",
    ]
    (tmp_path / "header.smf").write_bytes(foreign_record(2, local=dt.datetime(2026, 3, 4)))
    result = run("trend", tmp_path / "header.smf")
    assert result.exit_code == 0
    assert result.stdout == (
        "No MQ statistics or accounting to compare; smfparse info counts what there is.\n"
    )
