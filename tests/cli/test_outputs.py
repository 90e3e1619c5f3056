"""Outputs and their names, near names, hints: what a first trial meets."""

from __future__ import annotations

import datetime as dt
import sys
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from smfparse.advice.commands import inputs_text
from smfparse.errors import install_command
from tests.support.command import run
from tests.support.corpora import Corpora
from tests.support.paths import FIXTURES

SMF = FIXTURES / "qm60.smf"
FORMATS = ("text", "csv", "json", "jsonl", "md", "html", "xlsx", "parquet")
ENDINGS = ("arrow", "csv", "db", "duckdb", "json", "jsonl", "ndjson", "parquet", "smf", "xlsx")
SAID = {"db": "duckdb"}
LOG: list[Any] = ["report", "log", SMF]
SQL: list[Any] = ["sql", SMF, "SELECT 1 AS one"]
COMMANDS: list[list[Any]] = [
    *(["describe", "wtas"], LOG, ["report", "--list"], ["report", "log", "--explain"], SQL),
    *(["info", SMF], ["compare", SMF, SMF], ["dump", SMF], ["check", SMF]),
]


def refused(folder: Path, *arguments: Any) -> str:
    """Return the message of a command that is refused, and wrote nothing."""
    said = run(*arguments, code=2).stderr
    assert not list(folder.iterdir())
    return said


def test_a_name_says_the_format_and_one_that_is_not_written_is_refused(tmp_path: Path) -> None:
    """One command is tried with all endings, the others with some of them."""
    for number, command in enumerate(COMMANDS):
        for ending in ENDINGS[number::9] if number else ENDINGS:
            packed = tmp_path / f"x.{ending.upper()}.gz"
            said = f"the name says {SAID.get(ending, ending)}.gz;"
            assert said in refused(tmp_path, *command, "--output", packed)
            path = tmp_path / f"x.{ending.upper()}"
            if ending not in FORMATS:
                said = f"the name says {SAID.get(ending, ending)};"
                assert said in refused(tmp_path, *command, "--output", path)
    for ending in ("", ".txt", ".log", ".csv.txt", ".d20260304", "csv"):
        path = tmp_path / f"x{ending}"
        run("describe", "wtas", "--output", path, code=0)
        assert path.read_text("utf-8").startswith("wtas: ")
        path.unlink()
    for asked, ending, said in (
        (["report", "log", "--explain"], "csv", "--explain prints text"),
        (["report", "--list"], "parquet", "--list cannot be written as parquet"),
        ([*LOG, "--format", "csv"], "json", "use --format json, or another name"),
        (LOG, "smf", "says smf; use another name; formats: text, csv, json, jsonl, md, html, xlsx"),
        (LOG, "pdf", "the format pdf is not supported here; choose one of text, csv"),
        (LOG, "xls", "the format xls is not supported here; choose one of text, csv"),
    ):
        assert said in refused(tmp_path, *asked, "--output", tmp_path / f"x.{ending}")


def test_a_format_is_written_to_its_own_name_only(tmp_path: Path) -> None:
    for number, written in enumerate(FORMATS):
        command = [*SQL, "--format", written, "--output"]
        own = tmp_path / f"x.{written}"
        run(*command, own, code=0)
        own.unlink()
        for ending in {*ENDINGS[number % 2 :: 2]} - {written}:
            message = refused(tmp_path, *command, tmp_path / f"x.{ending}")
            told = f"use --format {ending}, or another name" in message
            assert told is (ending in FORMATS)
            assert "use another name" in refused(tmp_path, *command, tmp_path / f"x.{ending}.gz")


WAYS_OUT = {
    **{
        form: f"--format {form} --to DIR writes one file per table"
        for form in ("csv", "jsonl.gz", "ndjson", "parquet")
    },
    "db": "use --format duckdb for a database",
    **dict.fromkeys(("xlsx", "smf"), "use another name"),
}


def test_a_dataset_is_no_folder_of_such_a_name_and_the_way_out_is_named(tmp_path: Path) -> None:
    """Also where its format is given; a dataset of an earlier release with one is added to."""
    for ending, packed in product(ENDINGS, ("", ".gz")):
        path = tmp_path / f"x.{ending.upper()}{packed}"
        said = f"the name says {SAID.get(ending, ending)}{packed};"
        assert said in refused(tmp_path, "convert", SMF, "--to", path, "--format", "dataset")
        if f"{ending}{packed}" != "duckdb":
            message = refused(tmp_path, "convert", SMF, "--to", path)
            assert said in message
            assert WAYS_OUT.get(f"{ending}{packed}", "") in message
    run("convert", SMF, "--to", tmp_path / "days", code=0)
    (tmp_path / "days").rename(tmp_path / "days.parquet")
    done = run("convert", SMF, "--to", tmp_path / "days.parquet", "--append", code=0)
    assert "already in the dataset" in done.stderr


def test_files_of_tables_databases_and_smf_have_no_other_name(tmp_path: Path) -> None:
    convert = ["convert", SMF, "--table", "qjst", "--to"]
    other = {"x.json": "csv", "x.csv.gz": "csv", "x.duckdb": "jsonl", "x.parquet": "duckdb"}
    for name, form in (other | {"x.smf": "arrow"}).items():
        refused(tmp_path, *convert, tmp_path / name, "--format", form)
    for name in ("x.csv", "x.parquet", "x.smf.gz", "x.json.gz"):
        refused(tmp_path, "generate", tmp_path / name, "--count", "1")
    run(*convert, tmp_path / "x.db", "--format", "duckdb", code=0)
    said = run(*convert, tmp_path / "x.d20260304", "--format", "csv", code=0).stderr
    assert " 2 rows in 1 table\n" in said
    for name in ("x.smf", "x.bin"):
        run("generate", tmp_path / name, "--count", "1", "--tasks", "0", code=0)


BEGINNINGS = {"a.csv": b"z/OS,QM,", "a.json": b"{", "a.md": b"# log", "a.html": b"<!DOCTYPE"}
BEGINNINGS |= {"a.xlsx": b"PK", "a.parquet": b"PAR1", "a.txt": b"SYSA,QM60,"}


@pytest.mark.usefixtures("unjudged")
def test_the_ending_of_an_output_chooses_the_format(tmp_path: Path) -> None:
    for name, begins in BEGINNINGS.items():
        run(*LOG, "--output", tmp_path / name, code=0)
        assert (tmp_path / name).read_bytes().startswith(begins)
    run("summary", SMF, "--output", tmp_path / "summary.xlsx", code=0)
    assert (tmp_path / "summary.xlsx").read_bytes().startswith(b"PK")


def test_output_is_taken_where_a_command_writes_files(tmp_path: Path) -> None:
    day = tmp_path / "day.smf"
    run("generate", "--output", day, "--count", "1", "--tasks", "1", code=0)
    run("convert", day, "--output", tmp_path / "tables", code=0)
    run("anonymise", day, "--output", tmp_path / "copy.smf", code=0)
    twice = run("generate", day, "--output", day, code=2)
    assert "OUTPUT and --output name the same file" in twice.stderr


def test_unknown_names_suggest_near_ones() -> None:
    for command, near in {
        "report buf x.smf": "unknown report 'buf'; did you mean buff or buffio?",
        "report xyzzy x.smf": "use adap, api-cost, application, buff, ",
        "generate x.smf --scenario logslow": "did you mean log-slow,",
        "generate x.smf --scenario zzz": "use one of after, backlog,",
    }.items():
        assert near in run(*command.split(), code=2).stderr


def test_the_list_of_reports_fits_80_columns_and_explains_traces_when_asked() -> None:
    for inputs in ((), (SMF,)):
        lines = run("report", "--list", *inputs).stdout.splitlines()
        assert max(map(len, lines)) <= 80
        assert not any("START TRACE" in each for each in lines)
    explained = run("report", "--list", "--explain").stdout
    words = ("START TRACE(STAT) CLASS(1)", "LOGCSV")
    assert all(each in explained for each in words)


def test_fail_on_takes_rules_and_diagnoses(corpora: Corpora) -> None:
    """A finding that is asked for ends the call before damage does.

    Rules without data are one line, unless all are asked for.
    """
    (smf,) = corpora["damaged"].paths
    passing = run("check", smf, "--fail-on", "LOG-BUSY", code=4)
    failing = run("check", smf, "--fail-on", "LOG-BUSY", "--fail-on", "1,smf-*", "--all", code=3)
    (line,) = passing.stdout.partition("Not evaluated")[2].splitlines()
    assert line.endswith("without data; --all lists the traces that they require")
    assert "START TRACE" in failing.stdout.partition("Not evaluated")[2]
    for unknown, said in (
        ("LOG-RESPONS", "did you mean LOG-RESPONSE"),
        ("9", "severity is 1 to 5"),
    ):
        assert said in run("check", SMF, "--fail-on", unknown, code=2).stderr


def test_completion_without_a_shell_says_how(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/usr/bin/zsh")
    assert 'add to ~/.zshrc: eval "$(smfparse completion zsh)"' in run("completion", code=2).stderr
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    assert all(f"for {each}," in run("completion").stderr for each in ("bash", "zsh", "fish"))


def test_hints_install_into_this_environment() -> None:
    assert install_command("resvg_py").startswith(sys.executable)
    assert install_command("pyiceberg[sql]").endswith("-m pip install 'pyiceberg[sql]'")


@pytest.mark.usefixtures("unjudged")
def test_a_terminal_is_no_output_for_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page becomes a file of today; binary formats are refused before anything is read."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("smfparse.cli.options.on_terminal", lambda: True)
    for form in ("xlsx", "parquet"):
        refused = run("report", "log", "no-such.smf", "--format", form, code=2)
        assert f"give a file: --output result.{form}" in refused.stderr
    done = run("dashboard", SMF, code=0)
    name = f"mq-{dt.date.today():%Y-%m-%d}.html"
    assert done.stdout == ""
    assert f"the page is written to {name}" in done.stderr
    assert (tmp_path / name).read_text("utf-8").startswith("<!DOCTYPE html>")


def test_a_name_of_no_known_format_gets_a_remark_with_the_format_that_is_written(tmp_path: Path):
    for command in (["check", SMF], LOG):
        said = run(*command, "--output", tmp_path / "x.foo", code=0).stderr
        assert said.startswith(f"smfparse: {tmp_path / 'x.foo'}: the format is text; --format sel")
        (tmp_path / "x.foo").unlink()
        for known in ("x", "x.txt", "x.json"):
            assert "the format is" not in run(*command, "--output", tmp_path / known).stderr
            (tmp_path / known).unlink()
    assert "dot" not in refused(tmp_path, *LOG, "--output", tmp_path / "x.pdf")


def test_an_output_that_cannot_be_written_is_named_with_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "none" / "x.txt"
    said = run(*LOG, "--output", path, code=8).stderr
    assert said == f"smfparse: {path}: the folder {path.parent} does not exist; create it first\n"
    if Path("/dev/full").exists():
        said = run(*LOG, "--output", "/dev/full", code=8).stderr
        assert said == "smfparse: /dev/full: No space left on device\n"


def test_commands_repeat_the_names_of_inputs_unless_these_are_long() -> None:
    assert inputs_text(["a.smf", "b.smf", "c d.smf"]) == "a.smf b.smf 'c d.smf'"
    assert inputs_text(["x" * 50 + ".smf"] * 3) == "INPUT..."
    assert inputs_text([]) == "INPUT..."
