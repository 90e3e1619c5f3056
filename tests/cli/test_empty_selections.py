"""A selection that matches nothing: every command says what the input covers, and exits 8."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.command import run
from tests.support.paths import FIXTURES

SMF = FIXTURES / "qm01-930.smf"
COMMANDS = {
    "summary": (),
    "info": (),
    "check": (),
    "report log": (),
    "report api-cost": ("--format", "parquet", "--output", "{folder}/a.parquet"),
    "report all": ("--output", "{folder}/all"),
    "capacity log": (),
    "trend": (),
    "plot log-busy": (),
    "dashboard": ("--output", "{folder}/a.html"),
    "compare": ("--split-at", "2026-03-04T12:00"),
    "convert": ("--to", "{folder}/tables"),
    "sql": ("SELECT count(*) FROM qmst",),
}


@pytest.mark.slow
@pytest.mark.sampled(4)
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_ends_with_8_and_says_what_the_input_covers(
    command: str, tmp_path: Path
) -> None:
    for option, value in (("--qmgr", "NONE"), ("--from", "2031-01-01")):
        folder = tmp_path / option
        folder.mkdir()
        more = [each.format(folder=folder) for each in COMMANDS[command]]
        done = run(*command.split(), SMF, *more, option, value)
        assert done.exit_code == 8, done.output
        covers = "the input covers QM01 on SYSA, QM02 on SYSA, 2026/03/04 09:00 to 2026/03/04 11:00"
        assert done.stderr.count("no records match") == 1
        assert covers in done.stderr


def test_near_names_are_named() -> None:
    done = run("report", "task", SMF, "--queue", "PAYMENTS.AUDI")
    assert done.exit_code == 8
    assert "did you mean queue PAYMENTS.AUDIT" in done.stderr


def test_a_planner_answers_with_no_published_values_for_a_selection() -> None:
    done = run("capacity", "log", SMF, "--type", "116")
    assert (done.exit_code, done.stdout) == (8, "")
    assert "no records that log measures match type 116" in done.stderr
    assert run("capacity", "log", SMF).exit_code == 0


def test_a_report_without_its_data_in_the_selection_still_ends_with_0() -> None:
    done = run("report", "log", SMF, "--type", "116")
    assert done.exit_code == 0
    assert "no data for the report log" in done.stderr
