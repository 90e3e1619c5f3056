"""The command report: CSV and DD names of MP1B, and `report all`; dates in CSV of any command."""

from __future__ import annotations

import csv
import datetime as dt
import re
from pathlib import Path

import pytest

from smfparse.inputs.opening import open_inputs
from smfparse.reports.declaration import report, report_names
from tests.support.builders import put
from tests.support.command import in_json, run
from tests.support.datasets import files_below
from tests.support.generated import generate_dump
from tests.support.paths import FIXTURES, SMF
from tests.support.report_runs import asking
from tests.support.searching import of_many, some
from tests.support.traffic import AGENTS, PAIR
from tests.support.workbooks import sheets

pytestmark = pytest.mark.slow

MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}")
DAY = re.compile(r"\d{4}-\d\d-\d\d")
LIKE_A_DATE = re.compile(r"(?<![\d.])[12]\d{3}[-/]\d\d?[-/]\d\d?")


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path, east = tmp_path_factory.mktemp("csv") / "dump.smf", dt.timedelta(hours=5, minutes=30)
    generate_dump(path, version="10.0.0", utc_offset=east, count=2, tasks=4)
    return put(path, path.read_bytes(), *PAIR, *AGENTS)


def assert_one_form(text: str) -> int:
    """Fail unless every date in CSV is in the one form; return how many moments there are."""
    found = 0
    for row in csv.DictReader(text.splitlines()):
        for heading, cell in row.items():
            if LIKE_A_DATE.search(cell) and heading != "evidence":  # which is a sentence
                assert MOMENT.fullmatch(cell) or DAY.fullmatch(cell), (heading, cell)
                found += bool(MOMENT.fullmatch(cell))
    return found


@pytest.mark.fuzz
def test_reports_and_other_commands_have_one_form_of_dates(dump: Path) -> None:
    for name in some(report_names(), 3):
        asked = ["report", name, dump, "--format", "csv", *asking(report(name))]
        assert assert_one_form(run(*asked, "--interval", "1h", code=0).stdout), name
    for command in ("info", "check"):
        assert assert_one_form(run(command, dump, "--format", "csv").stdout), command
    assert_one_form(run("capacity", "log", dump, "--format", "csv").stdout)


def test_rows_of_sql_have_the_same_form(dump: Path) -> None:
    query = """SELECT
        smf_time, time, wtasints, smf_time::TIMESTAMP_S AS s, smf_time::TIMESTAMP_MS AS ms,
        smf_time::DATE AS day, NULL::TIMESTAMP AS nothing
    FROM wtas ORDER BY ALL"""
    text = run("sql", dump, query, "--format", "csv").stdout
    assert assert_one_form(text) == 5 * (len(text.splitlines()) - 1)
    rows = open_inputs([dump]).arrow("wtas").select(["smf_time", "time", "wtasints"]).to_pylist()
    wanted = sorted(tuple(each.values()) for each in rows)
    for row, moments in zip(csv.DictReader(text.splitlines()), wanted, strict=True):
        shown = [f"{each:%Y-%m-%d %H:%M:%S.%f}" for each in moments]
        *found, second, millisecond, day, nothing = row.values()
        assert (found, second[19:], nothing) == (shown, ".000000", "")
        assert (millisecond, day) == (f"{shown[0][:23]}000", shown[0][:10])


def test_mp1bs_dd_names_of_csv_name_reports_and_print_csv(dump: Path, tmp_path: Path) -> None:
    """The time is in two columns. Other names print text; a format decides."""
    for dd in ("LOGCSV", "CHINCSV", "api-costcsv"):
        text = run("report", report(dd).name, dump, "--format", "csv").stdout
        assert run("report", dd, dump).stdout == text
    for row in csv.DictReader(run("report", "BUFFCSV", dump).stdout.splitlines()):
        assert DAY.fullmatch(row["Date"])
        assert re.fullmatch(r"\d\d:\d\d:\d\d", row["Time"])
    text = run("report", "log", dump).stdout
    assert text.startswith("SYSA,QM01,2026/03/04,")
    for arguments in (["LOG"], ["LOGBUSY"], ["LOGCSV", "--format", "text"]):
        assert run("report", *arguments, dump).stdout == text
    assert run("report", "LOGCSV", dump, "--format", "json").stdout.startswith("{")
    said = run("report", "LOGCSV", "--explain", code=0).stdout
    assert said == run("report", "log", "--explain").stdout
    run("report", "LOGCSV", "--explain", "--format", "csv", code=2)
    day = put(tmp_path / "DAYCSV", dump.read_bytes())
    assert run("report", "--list", day).stdout.split()[:2] == ["name", "data"]


SHARED = FIXTURES / "qm02-shared.smf"
FEW = ["--type", "115(1)"]
ENDINGS = {"text": "txt", "csv": "csv", "parquet": "parquet"}


@of_many("smf, form", some([(SMF, "csv"), (SMF, "parquet"), (SHARED, "text")], 1))
def test_each_file_is_what_the_report_has_by_itself(smf: Path, form: str, tmp_path: Path) -> None:
    asked = [smf, "--format", form, *FEW]
    done = run("report", "all", *asked, "--output", tmp_path / "all", code=0)
    found = files_below(tmp_path / "all")
    assert f"smfparse: {len(found)} reports are in {tmp_path / 'all'}" in done.stderr
    names = [each for each in report_names() if f"{each}.{ENDINGS[form]}" in found]
    assert len(names) == len(found)
    for name in ("log", "message", "msgm", "smf-volume"):
        assert (name in names) == bool(in_json("report", name, *asked[:1], *FEW)["rows"]), name
    for name in some(names, 2):
        alone = tmp_path / f"{name}.{ENDINGS[form]}"
        run("report", name, *asked, "--output", alone, code=0)
        assert alone.read_bytes() == found[alone.name], name


def test_a_workbook_has_a_sheet_for_each_report_with_data(tmp_path: Path) -> None:
    book, alone = tmp_path / "book.xlsx", tmp_path / "log.xlsx"
    run("report", "all", SMF, *FEW, "--output", book, code=0)
    found = sheets(book)
    listed = in_json("report", "--list", SMF, *FEW)["reports"]
    titles = {each["name"]: each["title"] for each in listed if each["data"] != "no"}
    heading, *index = found.pop("Index")
    assert heading == ("Sheet", "Content", "Rows")
    assert index == [(name, f"{name}: {titles[name]}", len(found[name]) - 1) for name in found]
    assert min(map(len, found.values())) > 1
    assert not any("MVS" in each[0] for each in found.values())
    run("report", "log", SMF, *FEW, "--format", "xlsx", "--output", alone, code=0)
    assert found["log"] == sheets(alone)["log"]


def test_reports_without_rows_are_perhaps_listed_and_neither_counted_nor_written(tmp_path: Path):
    """The fixture has records of queues and channels, but none of agents."""
    data = {each["name"]: each["data"] for each in in_json("report", "--list", SMF)["reports"]}
    assert [data[each] for each in ("mft", "cluster", "log")] == ["perhaps", "perhaps", "yes"]
    folder, book = tmp_path / "all", tmp_path / "all.xlsx"
    said = [run("report", "all", SMF, "--output", each, code=0).stderr for each in (folder, book)]
    found = files_below(folder)
    assert "mft.txt" not in found
    assert len(sheets(book)) - 1 == len(found)
    for text, place in zip(said, (folder, book), strict=True):
        assert text.endswith(f"smfparse: {len(found)} reports are in {place}\n")


def test_recorded_intervals_longer_than_those_asked_for_are_noted(dump: Path) -> None:
    for length, told in {"5m": "5 minutes", "15m": "15 minutes"}.items():
        for form in ("text", "json"):
            said = run("report", "log", dump, "--interval", length, "--format", form).stderr
            assert said == (
                f"smfparse: --interval {told}: the recorded intervals are longer (30 minutes) "
                "and cannot be divided\n"
            )
    for asked in (["--interval", "30m"], ["--interval", "1h"], ["--total"], []):
        assert run("report", "log", dump, *asked).stderr == ""


def test_columns_of_a_workbook_have_one_heading(tmp_path: Path) -> None:
    book = tmp_path / "all.xlsx"
    run("report", "all", SHARED, "--output", book, code=0)
    headings = {cell for rows in sheets(book).values() for cell in rows[0]}
    assert "QSG" in headings
    assert not headings & {"qsg", "mvs", "qm"}


def test_reports_that_have_no_answer_are_left_out_with_the_reason(tmp_path: Path) -> None:
    asked = ["--queue", "*", "--type", "115(216),115(5)", "--output", tmp_path / "all"]
    said = run("report", "all", SMF, *asked, code=0).stderr
    assert "smfparse: log is left out: it has no queue names\n" in said
    assert "smfparse: application is left out: it is about one job or channel" in said
    assert re.findall(".*left out, no data:.* task,", said)
    assert {"log.txt", "qstat.txt"} & {*files_below(tmp_path / "all")} == {"qstat.txt"}


def test_files_are_replaced_only_by_force_and_damage_is_reported_once(tmp_path: Path) -> None:
    cut, folder = tmp_path / "cut.smf", tmp_path / "all"
    cut.write_bytes(SMF.read_bytes()[:-100])
    folder.mkdir()
    other, log = folder / "notes.md", folder / "log.txt"
    other.write_text("mine")
    log.write_text("old")
    arguments = ["report", "all", cut, "--type", "115(1)", "--output", folder]
    assert f"{log}: already exists; --force" in run(*arguments, code=2).stderr
    assert files_below(folder) == {"notes.md": b"mine", "log.txt": b"old"}
    assert run(*arguments, "--force", code=4).stderr.count(f"{cut}: ") == 1
    assert (log.read_text() != "old", other.read_text()) == (True, "mine")
    assert not [each for each in folder.iterdir() if each.name.startswith(".")]


WRONG = {
    "": "name a folder (--output reports) or a workbook",
    "--format dot --output reports": "draws only the report flow",
    "--explain": "--explain explains one report",
    "--format csv --output book.xlsx": "the name says xlsx",
    f"--output {SMF}": "name a folder (--output reports) or a workbook",
    "--output all.csv": "name a folder (--output reports) or a workbook",
    "--by nothing --output reports": "nothing: unknown name",
    "--sort elapsed --output reports": "--sort requires one report",
}


def test_wrong_calls_say_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for options, message in WRONG.items():
        assert message in run("report", "all", SMF, *options.split(), code=2).stderr
        assert not list(tmp_path.iterdir())
