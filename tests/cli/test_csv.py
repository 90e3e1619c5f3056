"""CSV of every command: one form of dates, and the DD names of MP1B that are CSV."""

from __future__ import annotations

import csv
import datetime as dt
import json
import re
from collections.abc import Iterator
from pathlib import Path

import duckdb
import polars as pl
import pytest

from smfparse import reports
from smfparse.inputs import open_inputs
from tests.support.command import run
from tests.support.generated import generate_dump
from tests.support.paths import FIXTURE_FILES
from tests.support.report_runs import asking
from tests.support.searching import of_many, pairs
from tests.support.traffic import AGENTS, PAIR

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("worked_out_once")]

MOMENT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}")
DAY = re.compile(r"\d{4}-\d\d-\d\d")
LIKE_A_DATE = re.compile(r"(?<![\d.])[12]\d{3}[-/]\d\d?[-/]\d\d?")
EAST = dt.timedelta(hours=5, minutes=30)
DD_CSV = sorted(
    {
        dd
        for name in reports.report_names()
        for dd in (*reports.report(name).dd, f"{name.upper()}CSV")
        if dd.endswith("CSV")
    }
)


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All kinds of records of a system that is not at UTC."""
    path = tmp_path_factory.mktemp("csv") / "dump.smf"
    generate_dump(path, version="10.0.0", utc_offset=EAST, count=2, tasks=4)
    path.write_bytes(path.read_bytes() + b"".join([*PAIR, *AGENTS]))
    return path


def cells(text: str) -> Iterator[tuple[str, str]]:
    """Yield heading and content of the cells of CSV."""
    for row in csv.DictReader(text.splitlines()):
        yield from row.items()


def assert_one_form(text: str) -> int:
    """Fail unless every date in CSV is in the one form; return how many moments there are."""
    found = 0
    for heading, cell in cells(text):
        if LIKE_A_DATE.search(cell) and heading != "evidence":  # which is a sentence
            assert MOMENT.fullmatch(cell) or DAY.fullmatch(cell), (heading, cell)
            found += bool(MOMENT.fullmatch(cell))
    return found


# -- dates


@of_many("name, other", pairs(reports.report_names(), [(), ("--total",)]))
def test_reports_have_one_form_of_dates(name: str, other: tuple[str, ...], dump: Path) -> None:
    moments = 0
    for more in (("--interval", "1h"), other):
        done = run("report", name, dump, "--format", "csv", *more, *asking(reports.report(name)))
        assert done.exit_code == 0
        moments += assert_one_form(done.stdout)
    assert moments


@pytest.mark.parametrize("name", ["log", "task", "qstat", "dchs", "qsum", "chinit"])
@pytest.mark.parametrize("path", FIXTURE_FILES, ids=lambda path: path.name)
def test_moments_of_reports_are_local_times_of_the_system(path: Path, name: str) -> None:
    """Those in CSV, by those in JSON."""
    text = run("report", name, path, "--format", "csv", "--interval", "15m").stdout
    rows = list(csv.DictReader(text.splitlines()))
    told = json.loads(run("report", name, path, "--format", "json", "--interval", "15m").stdout)
    assert len(rows) <= len(told["rows"])
    which = reports.report(name)
    headings = {each.name: each.csv for each in which.figures if each.csv}
    kept = [row for row in told["rows"] if which.has(row.get("line") or "", "csv")]
    for row, facts in zip(rows, kept, strict=True):
        assert row["Bucket"] == form(facts["bucket"])
        assert row["Interval start"] == form(facts["interval_start_local"])
        for key in facts:
            if key.endswith("_local") and headings.get(key.removesuffix("_local")):
                assert row[headings[key.removesuffix("_local")]] == form(facts[key])
        if "interval_date" in facts:
            assert (row["Date"], row["Time"]) == (facts["interval_date"], facts["interval_time"])


def form(iso: str | None) -> str:
    """Return a moment of JSON as CSV has it."""
    if iso is None:
        return ""
    return f"{dt.datetime.fromisoformat(iso):%Y-%m-%d %H:%M:%S.%f}"


def test_the_date_of_mp1bs_columns_is_in_the_same_form(dump: Path) -> None:
    for name in ("LOGCSV", "BUFFCSV", "CHINCSV", "ADAPCSV", "DCHSCSV"):
        rows = list(csv.DictReader(run("report", name, dump).stdout.splitlines()))
        for row in rows:
            named = {key.lower(): value for key, value in row.items()}
            assert DAY.fullmatch(named["date"])
            assert re.fullmatch(r"\d\d:\d\d:\d\d", named["time"])
    assert "SYSA,QM01,2026/03/04,09:30:00," in run("report", "log", dump).stdout


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


@pytest.mark.parametrize("form", ["csv", "csv.gz"])
def test_files_of_tables_have_the_same_form(form: str, dump: Path, tmp_path: Path) -> None:
    run("convert", dump, "--format", form, "--to", tmp_path / "out", "--table", "record,wtas,qjst")
    for path in (tmp_path / "out").iterdir():
        table = path.name.removesuffix(f".{form}")
        text = pl.read_csv(path, infer_schema=False).write_csv()
        assert assert_one_form(text)
        wanted = open_inputs([dump]).arrow(table)
        read = duckdb.sql(f"SELECT smf_time, time FROM read_csv('{path}')")
        assert [str(kind) for kind in read.types] == ["TIMESTAMP", "TIMESTAMP"]
        assert read.fetchall() == [
            (row["smf_time"], row["time"] and row["time"].replace(tzinfo=None))
            for row in wanted.select(["smf_time", "time"]).to_pylist()
        ]


@pytest.mark.usefixtures("unjudged")
def test_other_commands_have_the_same_form(dump: Path) -> None:
    assert assert_one_form(run("info", dump, "--format", "csv").stdout)
    for command in ("check", "summary"):
        assert assert_one_form(run(command, dump, "--format", "csv").stdout)
    for arguments in (["trend", dump], ["capacity", "log", dump]):
        assert_one_form(run(*arguments, "--format", "csv").stdout)
    split = ["--split-at", "2026-03-04T09:30"]
    for arguments in (["compare", dump, *split], ["describe", "wtas"], ["describe"]):
        assert_one_form(run(*arguments, "--format", "csv").stdout)


# -- DD names


@pytest.mark.parametrize("dd", DD_CSV)
def test_a_dd_name_in_csv_prints_csv(dd: str, dump: Path) -> None:
    which = reports.report(dd)
    more = asking(which)
    asked = run("report", which.name, dump, "--format", "csv", *more)
    assert asked.exit_code == 0
    assert run("report", dd, dump, *more).stdout == asked.stdout
    assert run("report", dd.lower(), dump, *more).stdout == asked.stdout


def test_mp1bs_dd_names_of_csv_are_all_there() -> None:
    """Those of which there is evidence, of blocks that are decoded."""
    known = (
        "LOGCSV STGCSV MSGMCSV CFCSV SMDSACSV SMDSBCSV SMDSSCSV BUFFCSV PSETCSV PSIOCSV QSTATCSV "
        "CHINCSV ADAPCSV DISPCSV SSLCSV DNSCSV DCHSCSV TASKCSV QPUTSCSV QGETSCSV"
    )
    assert set(known.split()) <= set(DD_CSV)


def test_other_names_print_text_and_format_decides(dump: Path) -> None:
    text = run("report", "log", dump).stdout
    assert text.startswith("SYSA,QM01,2026/03/04,")
    assert run("report", "LOG", dump).stdout == text
    assert run("report", "LOGBUSY", dump).stdout == text
    assert run("report", "LOGCSV", dump, "--format", "text").stdout == text
    assert run("report", "LOGCSV", dump, "--format", "json").stdout.startswith("{")


def test_what_prints_text_does_so_for_a_dd_name_in_csv(dump: Path, tmp_path: Path) -> None:
    said = run("report", "LOGCSV", "--explain")
    assert (said.exit_code, said.stdout) == (0, run("report", "log", "--explain").stdout)
    assert run("report", "LOGCSV", "--explain", "--format", "csv").exit_code == 2
    day = dump.rename(tmp_path / "DAYCSV")
    try:
        assert run("report", "--list", day).stdout.split()[:2] == ["name", "data"]
    finally:
        day.rename(dump)


def test_a_dd_name_in_csv_writes_a_file_of_that_name(dump: Path, tmp_path: Path) -> None:
    done = run("report", "LOGCSV", dump, "--output", tmp_path / "log.csv")
    assert done.exit_code == 0
    assert (tmp_path / "log.csv").read_text().startswith("z/OS,QM,Date,Time,MB Written,")
