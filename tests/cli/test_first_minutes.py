"""What a first trial meets: endings of outputs, near names, exit codes by rule, hints that work."""

from __future__ import annotations

import datetime as dt
import sys
import zipfile
from pathlib import Path

import pytest

from smfparse.errors import install_command
from tests.support.command import run
from tests.support.paths import FIXTURES

SMF = FIXTURES / "qm01-930.smf"


@pytest.mark.parametrize(
    ("name", "begins"),
    [("a.csv", b"z/OS,QM,"), ("a.json", b"{"), ("a.md", b"# log"), ("a.html", b"<!DOCTYPE")],
)
def test_the_ending_of_an_output_chooses_the_format(
    name: str, begins: bytes, tmp_path: Path
) -> None:
    done = run("report", "log", SMF, "--output", tmp_path / name)
    assert done.exit_code == 0, done.output
    assert (tmp_path / name).read_bytes().startswith(begins)


def test_a_workbook_and_parquet_are_chosen_likewise(tmp_path: Path) -> None:
    for command in (("summary",), ("check",), ("report", "log")):
        path = tmp_path / f"{command[-1]}.xlsx"
        assert run(*command, SMF, "--output", path).exit_code == 0
        assert zipfile.is_zipfile(path)
    path = tmp_path / "a.parquet"
    assert run("report", "log", SMF, "--output", path).exit_code == 0
    assert path.read_bytes()[:4] == b"PAR1"


def test_a_format_that_is_asked_for_goes_before_the_ending_and_has_to_agree(tmp_path: Path) -> None:
    refused = run("report", "log", SMF, "--format", "csv", "--output", tmp_path / "a.json")
    assert refused.exit_code == 2
    assert "use --format json, or another name" in refused.stderr


def test_endings_of_formats_that_are_not_written_are_refused(tmp_path: Path) -> None:
    for ending in ("pdf", "xls", "docx"):
        refused = run("report", "log", SMF, "--output", tmp_path / f"log.{ending}")
        assert refused.exit_code == 2
        assert f"{ending} cannot be written; choose one of text, csv" in refused.stderr
        assert not (tmp_path / f"log.{ending}").exists()
    assert run("report", "log", SMF, "--output", tmp_path / "log.txt").exit_code == 0


def test_output_is_taken_where_a_command_writes_files(tmp_path: Path) -> None:
    day = tmp_path / "day.smf"
    assert run("generate", "--output", day, "--count", "1", "--tasks", "1").exit_code == 0
    assert run("convert", day, "--output", tmp_path / "tables").exit_code == 0
    assert run("anonymise", day, "--output", tmp_path / "copy.smf").exit_code == 0
    twice = run("generate", day, "--output", day)
    assert twice.exit_code == 2
    assert "OUTPUT and --output name the same file" in twice.stderr


@pytest.mark.parametrize(
    ("arguments", "near"),
    [
        (("report", "buf", SMF), "unknown report 'buf'; did you mean buff or buffio?"),
        (("report", "qstatt", SMF), "did you mean qstat?"),
        (("generate", "x.smf", "--scenario", "logslow"), "did you mean log-slow,"),
        (("generate", "x.smf", "--scenario", "zzz"), "use one of after, backlog,"),
    ],
)
def test_unknown_names_suggest_near_ones(arguments: tuple[object, ...], near: str) -> None:
    refused = run(*arguments)
    assert refused.exit_code == 2
    assert near in refused.stderr


def test_the_list_of_reports_fits_80_columns_and_explains_traces_when_asked() -> None:
    for inputs in ((), (SMF,)):
        lines = run("report", "--list", *inputs).stdout.splitlines()
        assert max(map(len, lines)) <= 80
        assert not any("START TRACE" in each for each in lines)
    explained = run("report", "--list", "--explain").stdout
    assert "START TRACE(STAT) CLASS(1)" in explained
    assert "LOG LOGCSV" in explained or "LOGCSV" in explained


def test_fail_on_takes_classes_rules_and_diagnoses(tmp_path: Path) -> None:
    def code(*asked: str) -> int:
        options = [part for each in asked for part in ("--fail-on", each)]
        return run("check", SMF, *options, "--format", "json").exit_code

    found = run("check", SMF, "--format", "csv").stdout
    assert "SMF-CLASS3STAT" in found
    assert "LOG-BUSY" not in found
    assert (code("SMF-*"), code("LOG-BUSY"), code("LOG-BUSY", "SMF-*")) == (3, 0, 3)
    assert code("LOG-BUSY,smf-*") == 3
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


def test_rules_without_data_are_one_line_unless_all_are_asked_for() -> None:
    def ends(*more: str) -> list[str]:
        return run("check", SMF, *more).stdout.partition("Not evaluated")[2].splitlines()

    (line,) = ends()
    assert line.endswith("without data; --all lists the traces that they require")
    assert any("START TRACE" in each for each in ends("--all"))


def test_hints_install_into_this_environment() -> None:
    assert install_command("resvg_py").startswith(sys.executable)
    assert install_command("pyiceberg[sql]").endswith("-m pip install 'pyiceberg[sql]'")


def test_a_page_becomes_a_file_of_today_where_stdout_is_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("smfparse.cli.options.on_terminal", lambda: True)
    done = run("dashboard", SMF)
    name = f"mq-{dt.date.today():%Y-%m-%d}.html"
    assert done.exit_code == 0, done.output
    assert done.stdout == ""
    assert f"the page is written to {name}" in done.stderr
    assert (tmp_path / name).read_text("utf-8").startswith("<!DOCTYPE html>")


def test_binary_formats_without_a_file_are_refused_before_anything_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("smfparse.cli.options.on_terminal", lambda: True)
    for form in ("xlsx", "parquet"):
        refused = run("report", "log", "no-such.smf", "--format", form)
        assert refused.exit_code == 2
        assert f"give a file: --output result.{form}" in refused.stderr
