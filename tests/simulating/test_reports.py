"""Every report is made of every scenario: of all of them at once, each on a day of its own."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

import smfparse
from smfparse import reports
from smfparse.inputs import open_inputs
from smfparse.simulating import load_estate, scenario_names, simulate
from smfparse.writing import write_dataset
from tests.support.report_runs import printed, report_rows
from tests.support.searching import of_many, some

pytestmark = pytest.mark.slow

FIRST = dt.datetime(2026, 3, 1)
EMPTY = {"smds"}
"""Reports of what no scenario has."""


@pytest.fixture(scope="module")
def days(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset of all scenarios, decoded once."""
    folder: Path = tmp_path_factory.mktemp("days")
    files = [folder / f"{name}.smf" for name in scenario_names()]
    for number, file in enumerate(files):
        start = FIRST + dt.timedelta(days=number)
        simulate(file, load_estate(file.stem, interval=dt.timedelta(hours=12), start=start))
    write_dataset(open_inputs(files), folder / "tables")
    return folder / "tables"


def test_there_are_rows_for_every_report(days: Path) -> None:
    needed = {reports.report(name).main[0] for name in {*reports.report_names()} - EMPTY}
    assert needed <= {*smfparse.open(days).tables}


@of_many("name", some(reports.report_names(), 10))
def test_a_report_has_rows_and_lines(name: str, days: Path) -> None:
    rows = report_rows(name, days)
    assert list(printed(reports.report(name), rows, "text"))
    assert bool(rows) == (name not in EMPTY)
