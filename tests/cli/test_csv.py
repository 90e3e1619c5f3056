"""CSV of every command: one form of dates, and the DD names of MP1B that are CSV."""

from __future__ import annotations

import csv
import datetime as dt
import re
from pathlib import Path

import pytest

from smfparse import reports
from smfparse.inputs import open_inputs
from tests.support.command import run
from tests.support.generated import generate_dump
from tests.support.report_runs import asking
from tests.support.searching import of_many, some
from tests.support.traffic import AGENTS, PAIR

pytestmark = pytest.mark.slow

MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}")
DAY = re.compile(r"\d{4}-\d\d-\d\d")
LIKE_A_DATE = re.compile(r"(?<![\d.])[12]\d{3}[-/]\d\d?[-/]\d\d?")
EAST = dt.timedelta(hours=5, minutes=30)


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("csv") / "dump.smf"
    generate_dump(path, version="10.0.0", utc_offset=EAST, count=2, tasks=4)
    path.write_bytes(path.read_bytes() + b"".join([*PAIR, *AGENTS]))
    return path


def assert_one_form(text: str) -> int:
    """Fail unless every date in CSV is in the one form; return how many moments there are."""
    found = 0
    for row in csv.DictReader(text.splitlines()):
        for heading, cell in row.items():
            if LIKE_A_DATE.search(cell) and heading != "evidence":  # which is a sentence
                assert MOMENT.fullmatch(cell) or DAY.fullmatch(cell), (heading, cell)
                found += bool(MOMENT.fullmatch(cell))
    return found


@of_many("name", some(reports.report_names(), 4))
def test_reports_have_one_form_of_dates(name: str, dump: Path) -> None:
    asked = ["report", name, dump, "--format", "csv", *asking(reports.report(name))]
    done = run(*asked, "--interval", "1h")
    assert done.exit_code == 0
    assert assert_one_form(done.stdout)


def test_rows_of_sql_have_the_same_form(dump: Path) -> None:
    query = """SELECT
        smf_time, time, wtasints, smf_time::TIMESTAMP_S AS s, smf_time::TIMESTAMP_MS AS ms,
        smf_time::DATE AS day, NULL::TIMESTAMP AS nothing
    FROM wtas ORDER BY ALL"""
    text = run("sql", dump, query, "--format", "csv").stdout
    rows = open_inputs([dump]).arrow("wtas").select(["smf_time", "time", "wtasints"])
    wanted = sorted(
        tuple(f"{each:%Y-%m-%d %H:%M:%S.%f}" for each in row.values()) for row in rows.to_pylist()
    )
    found = list(csv.DictReader(text.splitlines()))
    assert [(row["smf_time"], row["time"], row["wtasints"]) for row in found] == wanted
    for row in found:
        assert row["nothing"] == ""
        assert row["day"] == row["smf_time"][:10]
        assert row["s"].endswith(".000000")
        assert row["ms"][:-3] == row["smf_time"][:-3]
    assert assert_one_form(text) == 5 * len(found)


def test_other_commands_have_the_same_form(dump: Path) -> None:
    for command in ("info", "check"):
        assert assert_one_form(run(command, dump, "--format", "csv").stdout), command
    for arguments in (["trend", dump], ["capacity", "log", dump], ["describe", "wtas"]):
        assert_one_form(run(*arguments, "--format", "csv").stdout)


def test_mp1bs_dd_names_of_csv_name_reports_and_print_csv(dump: Path, tmp_path: Path) -> None:
    """The time is in two columns. Other names print text; a format decides."""
    for dd in ("LOGCSV", "CHINCSV", "API-COSTCSV"):
        text = run("report", reports.report(dd).name, dump, "--format", "csv").stdout
        assert run("report", dd, dump).stdout == run("report", dd.lower(), dump).stdout == text
    for row in csv.DictReader(run("report", "BUFFCSV", dump).stdout.splitlines()):
        assert DAY.fullmatch(row["Date"])
        assert re.fullmatch(r"\d\d:\d\d:\d\d", row["Time"])
    text = run("report", "log", dump).stdout
    assert text.startswith("SYSA,QM01,2026/03/04,")
    for arguments in (["LOG"], ["LOGBUSY"], ["LOGCSV", "--format", "text"]):
        assert run("report", *arguments, dump).stdout == text
    assert run("report", "LOGCSV", dump, "--format", "json").stdout.startswith("{")
    said = run("report", "LOGCSV", "--explain")
    assert (said.exit_code, said.stdout) == (0, run("report", "log", "--explain").stdout)
    assert run("report", "LOGCSV", "--explain", "--format", "csv").exit_code == 2
    day = tmp_path / "DAYCSV"
    day.write_bytes(dump.read_bytes())
    assert run("report", "--list", day).stdout.split()[:2] == ["name", "data"]
