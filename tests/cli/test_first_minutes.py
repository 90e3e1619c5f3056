"""What a first trial meets: endings of outputs, near names, exit codes by rule, hints that work."""

from __future__ import annotations

import datetime as dt
import sys
from pathlib import Path

import pytest

from smfparse.errors import install_command
from tests.support.command import run
from tests.support.paths import FIXTURES, SMF

LOG = ("report", "log", SMF)
BEGINNINGS = {
    "a.csv": b"z/OS,QM,",
    "a.json": b"{",
    "a.md": b"# log",
    "a.html": b"<!DOCTYPE",
    "a.xlsx": b"PK",
    "a.parquet": b"PAR1",
    "a.txt": b"SYSA,QM01,",
}


@pytest.mark.usefixtures("unjudged")
def test_the_ending_of_an_output_chooses_the_format(tmp_path: Path) -> None:
    for name, begins in BEGINNINGS.items():
        assert run(*LOG, "--output", tmp_path / name).exit_code == 0
        assert (tmp_path / name).read_bytes().startswith(begins)
    for command in ("summary", "check"):
        path = tmp_path / f"{command}.xlsx"
        assert run(command, FIXTURES / "qm60.smf", "--output", path).exit_code == 0
        assert path.read_bytes().startswith(b"PK")


def test_binary_formats_without_a_file_are_refused_before_anything_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("smfparse.cli.options.on_terminal", lambda: True)
    for form in ("xlsx", "parquet"):
        refused = run("report", "log", "no-such.smf", "--format", form)
        assert refused.exit_code == 2
        assert f"give a file: --output result.{form}" in refused.stderr


def test_output_is_taken_where_a_command_writes_files(tmp_path: Path) -> None:
    day = tmp_path / "day.smf"
    assert run("generate", "--output", day, "--count", "1", "--tasks", "1").exit_code == 0
    assert run("convert", day, "--output", tmp_path / "tables").exit_code == 0
    assert run("anonymise", day, "--output", tmp_path / "copy.smf").exit_code == 0
    twice = run("generate", day, "--output", day)
    assert twice.exit_code == 2
    assert "OUTPUT and --output name the same file" in twice.stderr


def test_unknown_names_suggest_near_ones() -> None:
    for command, near in {
        "report buf x.smf": "unknown report 'buf'; did you mean buff or buffio?",
        "report qstatt x.smf": "did you mean qstat?",
        "generate x.smf --scenario logslow": "did you mean log-slow,",
        "generate x.smf --scenario zzz": "use one of after, backlog,",
    }.items():
        refused = run(*command.split())
        assert refused.exit_code == 2
        assert near in refused.stderr


def test_the_list_of_reports_fits_80_columns_and_explains_traces_when_asked() -> None:
    for inputs in ((), (SMF,)):
        lines = run("report", "--list", *inputs).stdout.splitlines()
        assert max(map(len, lines)) <= 80
        assert not any("START TRACE" in each for each in lines)
    explained = run("report", "--list", "--explain").stdout
    assert "START TRACE(STAT) CLASS(1)" in explained
    assert "LOGCSV" in explained


def test_fail_on_takes_rules_and_diagnoses_and_those_without_data_are_one_line() -> None:
    """Unless all are asked for."""
    passing = run("check", SMF, "--fail-on", "LOG-BUSY")
    failing = run("check", SMF, "--fail-on", "LOG-BUSY,D2", "--fail-on", "smf-*", "--all")
    assert (passing.exit_code, failing.exit_code) == (0, 3)
    (line,) = passing.stdout.partition("Not evaluated")[2].splitlines()
    assert line.endswith("without data; --all lists the traces that they require")
    assert "START TRACE" in failing.stdout.partition("Not evaluated")[2]
    refused = run("check", SMF, "--fail-on", "LOG-RESPONS")
    assert refused.exit_code == 2
    assert "--fail-on LOG-RESPONS: unknown rule; did you mean LOG-RESPONSE" in refused.stderr
    assert run("check", SMF, "--fail-on", "9").exit_code == 2


def test_completion_without_a_shell_says_how(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/usr/bin/zsh")
    refused = run("completion")
    assert refused.exit_code == 2
    assert 'add to ~/.zshrc: eval "$(smfparse completion zsh)"' in refused.stderr
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    assert all(f"for {each}," in run("completion").stderr for each in ("bash", "zsh", "fish"))


def test_hints_install_into_this_environment() -> None:
    assert install_command("resvg_py").startswith(sys.executable)
    assert install_command("pyiceberg[sql]").endswith("-m pip install 'pyiceberg[sql]'")


@pytest.mark.usefixtures("unjudged")
def test_a_page_becomes_a_file_of_today_where_stdout_is_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("smfparse.cli.options.on_terminal", lambda: True)
    done = run("dashboard", FIXTURES / "qm60.smf")
    name = f"mq-{dt.date.today():%Y-%m-%d}.html"
    assert done.exit_code == 0, done.output
    assert done.stdout == ""
    assert f"the page is written to {name}" in done.stderr
    assert (tmp_path / name).read_text("utf-8").startswith("<!DOCTYPE html>")
