"""`report all`: every report as a file of a folder, or as a sheet of a workbook."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from smfparse.reports import report_names
from tests.support.command import run
from tests.support.datasets import files_below
from tests.support.paths import FIXTURES, SMF
from tests.support.searching import of_many, some
from tests.support.workbooks import sheets

pytestmark = pytest.mark.slow
SHARED = FIXTURES / "qm02-shared.smf"
FEW = ["--type", "115(1)"]
ENDINGS = {"text": "txt", "csv": "csv", "parquet": "parquet"}


@of_many("smf, form", some([(SMF, "csv"), (SMF, "parquet"), (SHARED, "text")], 1))
def test_each_file_is_what_the_report_has_by_itself(smf: Path, form: str, tmp_path: Path) -> None:
    asked = [smf, "--format", form, *FEW]
    done = run("report", "all", *asked, "--output", tmp_path / "all")
    assert done.exit_code == 0, done.stderr
    found = files_below(tmp_path / "all")
    assert f"smfparse: {len(found)} reports are in {tmp_path / 'all'}" in done.stderr
    names = [each for each in report_names() if f"{each}.{ENDINGS[form]}" in found]
    assert len(names) == len(found) >= 5
    for name in some(names, 4):
        alone = tmp_path / f"{name}.{ENDINGS[form]}"
        assert run("report", name, *asked, "--output", alone).exit_code == 0
        assert alone.read_bytes() == found[alone.name], name


def test_a_workbook_has_a_sheet_for_each_report_with_data(tmp_path: Path) -> None:
    book, alone = tmp_path / "book.xlsx", tmp_path / "log.xlsx"
    assert run("report", "all", SMF, *FEW, "--output", book).exit_code == 0
    found = sheets(book)
    listed = json.loads(run("report", "--list", SMF, *FEW, "--format", "json").stdout)["reports"]
    titles = {each["name"]: each["title"] for each in listed if each["data"]}
    heading, *index = found.pop("Index")
    assert heading == ("Sheet", "Content", "Rows")
    assert index == [
        (name, f"{name}: {titles[name]}", len(rows) - 1) for name, rows in found.items()
    ]
    assert min(map(len, found.values())) > 1
    assert not any("MVS" in each[0] for each in found.values())
    assert run("report", "log", SMF, *FEW, "--format", "xlsx", "--output", alone).exit_code == 0
    assert found["log"] == sheets(alone)["log"]


def test_reports_that_have_no_answer_are_left_out_with_the_reason(tmp_path: Path) -> None:
    asked = ["--queue", "*", "--type", "115(216),115(5)", "--output", tmp_path / "all"]
    done = run("report", "all", SMF, *asked)
    assert done.exit_code == 0, done.stderr
    assert "smfparse: log is left out: it has no queue names\n" in done.stderr
    assert "smfparse: application is left out: it needs --job or --channel" in done.stderr
    (line,) = (each for each in done.stderr.splitlines() if "left out, no data:" in each)
    assert " task," in line
    assert {"log.txt", "qstat.txt"} & {*files_below(tmp_path / "all")} == {"qstat.txt"}


def test_files_are_replaced_only_by_force_and_damage_is_reported_once(tmp_path: Path) -> None:
    cut, folder = tmp_path / "cut.smf", tmp_path / "all"
    cut.write_bytes(SMF.read_bytes()[:-100])
    folder.mkdir()
    other, log = folder / "notes.md", folder / "log.txt"
    other.write_text("mine")
    log.write_text("old")
    arguments = ["report", "all", cut, "--type", "115(1)", "--output", folder]
    refused = run(*arguments)
    assert refused.exit_code == 2
    assert f"{log}: already exists; --force" in refused.stderr
    assert files_below(folder) == {"notes.md": b"mine", "log.txt": b"old"}
    done = run(*arguments, "--force")
    assert (done.exit_code, done.stderr.count(f"{cut}: ")) == (4, 1)
    assert (log.read_text() != "old", other.read_text()) == (True, "mine")
    assert not [each for each in folder.iterdir() if each.name.startswith(".")]


WRONG = {
    "": "name a folder (--output reports) or a workbook",
    "--format dot --output reports": "draws one report",
    "--explain": "--explain explains one report",
    "--format csv --output book.xlsx": "the name says xlsx",
    f"--output {SMF}": "use another name",
    "--by nothing --output reports": "nothing: unknown name",
    "--sort elapsed --output reports": "--sort requires one report",
}


def test_wrong_calls_say_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for options, message in WRONG.items():
        done = run("report", "all", SMF, *options.split())
        assert done.exit_code == 2, done.output
        assert message in done.stderr
        assert not list(tmp_path.iterdir())
