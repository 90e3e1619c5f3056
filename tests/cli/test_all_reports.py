"""`report all`: every report as a file of a folder, or as a sheet of a workbook."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from smfparse.reports import report_names
from tests.support.command import run
from tests.support.paths import FIXTURES, SMF
from tests.support.searching import LONG, some

SHARED = FIXTURES / "qm02-shared.smf"
NEEDS_NAME = "application"
FEWER = [] if LONG else ["--type", "115"]
ENDINGS = {"text": "txt", "csv": "csv", "parquet": "parquet"}


def written(folder: Path) -> dict[str, bytes]:
    """Return what is in each file of a folder."""
    return {each.name: each.read_bytes() for each in folder.iterdir()}


def cells(book: Path) -> dict[str, list[Any]]:
    """Return the values of the rows of each sheet."""
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("xlsxwriter")
    opened = openpyxl.load_workbook(book)
    return {each.title: list(each.values) for each in opened.worksheets}


@pytest.mark.fuzz
@pytest.mark.parametrize(
    ("smf", "form", "least", "selected"),
    [
        (SMF, "text", 21, []),
        (SHARED, "csv", 5, FEWER),
        (SMF, "parquet", 5, FEWER),
    ],
)
def test_each_file_is_what_the_report_has_by_itself(
    smf: Path, form: str, least: int, selected: list[str], tmp_path: Path
) -> None:
    asked = [smf, "--format", form, *selected]
    done = run("report", "all", *asked, "--output", tmp_path / "all")
    assert done.exit_code == 0, done.stderr
    found = written(tmp_path / "all")
    assert f"smfparse: {len(found)} reports are in {tmp_path / 'all'}" in done.stderr
    names = [each for each in report_names() if f"{each}.{ENDINGS[form]}" in found]
    assert len(names) == len(found) >= least
    for name in some(names, 5):
        alone = tmp_path / f"{name}.{ENDINGS[form]}"
        assert run("report", name, *asked, "--output", alone).exit_code == 0
        assert alone.read_bytes() == found[alone.name], name


def test_a_workbook_has_a_sheet_for_each_report(tmp_path: Path) -> None:
    book, alone = tmp_path / "book.xlsx", tmp_path / "log.xlsx"
    assert run("report", "all", SMF, "--output", book).exit_code == 0
    found = cells(book)
    listed = json.loads(run("report", "--list", SMF, "--format", "json").stdout)["reports"]
    with_data = {each["name"] for each in listed if each["data"]} - {NEEDS_NAME}
    assert [*found] == [each for each in report_names() if each in with_data]
    assert run("report", "log", SMF, "--format", "xlsx", "--output", alone).exit_code == 0
    assert found["log"] == cells(alone)["log"]
    assert len(found["log"]) > 1


def test_reports_that_cannot_take_the_selection_are_left_out(tmp_path: Path) -> None:
    done = run("report", "all", SMF, "--queue", "*", "--output", tmp_path / "all")
    assert done.exit_code == 0, done.stderr
    assert "smfparse: log is left out: it has no queue names\n" in done.stderr
    assert f"smfparse: {NEEDS_NAME} is left out: it is about one subject" in done.stderr
    found = written(tmp_path / "all")
    assert "log.txt" not in found
    assert "task.txt" in found


def test_reports_without_data_are_named_on_one_line(tmp_path: Path) -> None:
    done = run("report", "all", SMF, "--type", "115(1)", "--output", tmp_path / "all")
    assert done.exit_code == 0, done.stderr
    (line,) = (each for each in done.stderr.splitlines() if "no data for them" in each)
    assert " task," in line
    assert "task.txt" not in written(tmp_path / "all")


def test_nothing_is_written_where_nothing_is_selected(tmp_path: Path) -> None:
    done = run("report", "all", SMF, "--qmgr", "NONE", "--output", tmp_path / "all")
    assert done.exit_code == 0
    assert done.stderr.count("the selection matches no record") == 1
    assert not (tmp_path / "all").exists()


def test_files_are_replaced_only_by_force(tmp_path: Path) -> None:
    other, log = tmp_path / "notes.md", tmp_path / "log.txt"
    other.write_text("mine")
    log.write_text("old")
    arguments = ["report", "all", SMF, "--type", "115(1)", "--output", tmp_path]
    refused = run(*arguments)
    assert refused.exit_code == 2
    assert str(log) in refused.stderr
    assert "--force" in refused.stderr
    assert written(tmp_path) == {"notes.md": b"mine", "log.txt": b"old"}
    assert run(*arguments, "--force").exit_code == 0
    assert log.read_text() != "old"
    assert other.read_text() == "mine"
    assert not [each for each in tmp_path.iterdir() if each.name.startswith(".")]


def test_damage_is_told_once(tmp_path: Path) -> None:
    smf = tmp_path / "damaged.smf"
    content = SMF.read_bytes()
    smf.write_bytes(content[:-100])
    alone = run("report", "log", smf, "--type", "115")
    assert alone.exit_code == 4
    done = run("report", "all", smf, "--type", "115", "--output", tmp_path / "all")
    assert done.exit_code == 4
    for line in alone.stderr.splitlines():
        assert done.stderr.splitlines().count(line) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "give a folder, or a workbook"),
        (["--format", "dot", "--output", "reports"], "draws one report"),
        (["--explain"], "--explain explains one report"),
        (["--format", "csv", "--output", "book.xlsx"], "the name says xlsx"),
        (["--output", SMF], "give another name"),
        (["--by", "nothing", "--output", "reports"], "nothing: unknown name"),
        (["--sort", "elapsed", "--output", "reports"], "--sort takes a figure of one report"),
    ],
)
def test_wrong_calls_say_what_to_do(
    options: list[Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("report", "all", SMF, *options)
    assert done.exit_code == 2, done.output
    assert message in done.stderr
    assert not list(tmp_path.iterdir())
