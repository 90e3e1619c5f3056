"""The command line: what is printed where, and with which exit code."""

from __future__ import annotations

import csv
import datetime as dt
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import smfparse
from smfparse.cli import main
from smfparse.cli.output import Output
from smfparse.rendering import FORMATS
from tests.support.builders import foreign_record, rdw
from tests.support.command import COMMAND, run
from tests.support.smf import LOG_START, Io, Log, log_record

COMMANDS = tuple(sorted(main.commands))
LOG = Log(
    counters={"qjstwrnw": 7, "qjstllcp": 2},
    io={(1, 1): Io(10, 10, 500, 600, 90, None, "L101")},
    sleep_us=9_999_000,
)
FIRST = log_record(LOG, system="SYS1", qmgr="QM01")
SECOND = log_record(LOG, system="SYS1", qmgr="QM01", start=LOG_START + dt.timedelta(seconds=10))
HEADER = foreign_record(2, local=LOG_START)


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """A dump header and two 115/1 records of one queue manager."""
    path = tmp_path / "dump.smf"
    path.write_bytes(rdw([HEADER, FIRST, SECOND]))
    return path


@pytest.fixture
def cut(tmp_path: Path) -> Path:
    """The same file, 5 bytes short."""
    path = tmp_path / "cut.smf"
    path.write_bytes(rdw([HEADER, FIRST, SECOND])[:-5])
    return path


@pytest.fixture
def without_log(tmp_path: Path) -> Path:
    path = tmp_path / "header.smf"
    path.write_bytes(HEADER)
    return path


def clean(*arguments: object) -> str:
    """Call smfparse; all is well, and nothing but data is on stdout."""
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_version_is_that_of_the_package() -> None:
    assert clean("--version").strip() == f"smfparse, version {smfparse.__version__}"


def test_python_runs_the_package_as_the_command() -> None:
    """Its usage says how it was called; all else is the same."""
    as_module = [sys.executable, "-m", "smfparse"]
    done, wrong = (
        subprocess.run([*as_module, each], capture_output=True, text=True, check=False)
        for each in ("--version", "info-of-what")
    )
    assert (done.returncode, done.stdout) == (0, run("--version").stdout)
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("Usage: python -m smfparse ")
    assert wrong.stderr.splitlines()[-1] == run("info-of-what").stderr.splitlines()[-1]


def test_the_help_names_every_command_and_the_exit_codes() -> None:
    text = clean("--help")
    assert {"convert", "info", "report", "sql"} <= set(COMMANDS)
    assert all(f"  {name} " in text for name in COMMANDS)
    assert all(f"{code} " in text.split("Exit codes:")[1] for code in (0, 2, 4, 8))


@pytest.mark.parametrize("option", ["--help", "-h"])
@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_every_command_has_an_example(name: str, option: str) -> None:
    text = clean(name, option)
    assert f"smfparse {name} " in text.split("Example:")[1]


def counts(info: str) -> str:
    """Return the table of `info`, without what it says of the inputs."""
    return info.partition("\n\n")[0]


def test_info_counts_records_and_bytes_of_each_kind(dump: Path) -> None:
    table, _, inputs = clean("info", dump).partition("\n\n")
    assert inputs == f"{dump}: rdw (the first 3 records have record descriptor words)\n"
    lines = [" ".join(line.split()) for line in table.splitlines()]
    assert lines == [
        "System QMgr Version Type Subtype Records Bytes First Last Trace Blocks",
        f"SYS1 QM01 9.3.0 115 1 2 {len(FIRST) + len(SECOND):,}"
        " 2023/10/02 11:53:02 2023/10/02 11:53:12 STAT 1 QSST QJST",
        "SYS1 - - 2 - 1 18 2023/10/02 11:52:52 2023/10/02 11:52:52 SMF dump header",
        f"Total 3 {dump.stat().st_size:,} 2023/10/02 11:52:52 2023/10/02 11:53:12",
    ]


def test_info_gives_the_same_as_json(dump: Path) -> None:
    found = json.loads(clean("info", dump, "--format", "json"))
    why = "the first 3 records have record descriptor words"
    assert found["inputs"] == [{"name": str(dump), "packing": [], "framing": "rdw", "why": why}]
    assert found["records"] == 3
    assert found["bytes"] == dump.stat().st_size
    assert found["damage"] == []
    assert found["damage_count"] == 0
    mq = ("SYS1", "QM01", "9.3.0", 115, 1, 2, len(FIRST) + len(SECOND))
    of_mq = (*mq, "2023-10-02T11:53:02", "2023-10-02T11:53:12", "STAT 1", ["QSST", "QJST"])
    of_smf = ("SYS1", None, None, 2, None, 1, 18, *["2023-10-02T11:52:52"] * 2, None, [])
    names = ("system", "qmgr", "mq_version", "type", "subtype", "records", "bytes")
    names += ("first", "last", "trace", "blocks")
    assert found["groups"] == [dict(zip(names, each, strict=True)) for each in (of_mq, of_smf)]


def test_info_of_a_dataset_is_info_of_its_file(dump: Path, tmp_path: Path) -> None:
    clean("convert", dump, "--to", tmp_path / "tables")
    found = clean("info", tmp_path / "tables")
    assert counts(found) == counts(clean("info", dump))
    assert found.endswith(f"{tmp_path / 'tables'}: Parquet (a dataset)\n")


def test_what_convert_writes_can_be_queried(dump: Path, tmp_path: Path) -> None:
    converted = run("convert", dump, "--to", tmp_path / "tables")
    assert converted.exit_code == 0
    assert converted.stdout == ""
    assert "7 rows in 3 tables" in converted.stderr
    query = "SELECT count(*) AS rows, sum(qjstwrnw)::BIGINT AS nowait FROM qjst"
    text = clean("sql", tmp_path / "tables", query, "--format", "csv")
    assert text.splitlines() == ["rows,nowait", "2,14"]


def test_a_report_goes_to_stdout_and_nothing_else_does(dump: Path) -> None:
    result = run("report", "LOG", dump)
    assert result.stdout.startswith("SYS1,QM01,2023/10/02,11:53:02,VRM:930,\n")
    assert result.stderr == ""


def test_a_total_is_one_section(dump: Path) -> None:
    assert clean("report", "log", dump).count("VRM:") == 2
    assert clean("report", "log", dump, "--total").count("VRM:") == 1


def test_explain_needs_no_input() -> None:
    assert "QJSTSLPTU" in clean("report", "log", "--explain")


def test_a_report_without_its_data_says_which_trace_to_start(without_log: Path) -> None:
    result = run("report", "log", without_log)
    assert result.exit_code == 0
    assert "START TRACE(STAT) CLASS(1)" in result.stderr
    assert "115 subtype 1" in result.stderr
    assert len(result.stdout.splitlines()) == 1
    assert "VRM" not in result.stdout


def test_a_csv_report_without_its_data_is_its_header(without_log: Path) -> None:
    result = run("report", "log", without_log, "--format", "csv")
    assert result.exit_code == 0
    (header,) = result.stdout.splitlines()
    assert header.startswith("z/OS,QM,Date,Time,")


@pytest.mark.parametrize(
    "arguments",
    [
        ["info", "{}"],
        ["report", "log", "{}"],
        ["sql", "{}", "SELECT * FROM record"],
        ["convert", "{}", "--to", "{}.tables"],
    ],
    ids=lambda each: each[0],
)
def test_a_cut_file_gives_its_good_records_and_exit_code_4(cut: Path, arguments: list[str]) -> None:
    result = run(*[each.format(cut) for each in arguments])
    at = len(HEADER) + len(FIRST)
    assert result.exit_code == 4
    said = result.stdout if arguments[0] == "info" else result.stderr
    assert f"{cut}: byte 0x{at:X}: the file is cut" in said
    assert ("the file is cut" in result.stdout) == (arguments[0] == "info")


def test_the_data_of_a_cut_file_is_that_of_the_records_before(cut: Path, tmp_path: Path) -> None:
    whole = tmp_path / "whole.smf"
    whole.write_bytes(rdw([HEADER, FIRST]))
    assert run("report", "log", cut).stdout == clean("report", "log", whole)
    assert counts(run("info", cut).stdout) == counts(clean("info", whole))
    query = "SELECT * EXCLUDE (source) FROM qjst"
    assert run("sql", cut, query).stdout == clean("sql", whole, query)


def test_damage_that_is_met_twice_is_said_once(cut: Path) -> None:
    result = run("report", "log", cut)
    assert result.stderr.count("the file is cut") == 1


def test_info_lists_damage_in_json_too(cut: Path) -> None:
    found = json.loads(run("info", cut, "--format", "json").stdout)
    assert found["damage_count"] == 1
    [row] = found["damage"]
    assert row["record_offset"] == len(HEADER) + len(FIRST)
    assert row["bytes"] == len(SECOND) - 5


def test_many_damages_are_counted_not_all_shown(tmp_path: Path) -> None:
    later = bytes.fromhex("0008020000000000")
    path = tmp_path / "spans.smf"
    path.write_bytes(rdw([FIRST, *[later] * 25, SECOND]))
    result = run("info", path)
    assert result.exit_code == 4
    assert result.stdout.count("a later segment without its first one") == 20
    assert "... and 5 more; the table damage has all" in result.stdout
    said = run("sql", path, "SELECT count(*) FROM damage", "--format", "csv")
    assert (said.exit_code, said.stdout.split()) == (4, ["count_star()", "25"])
    assert said.stderr.count("a later segment without its first one") == 20
    assert "... and 5 more; the table damage has all" in said.stderr


def test_one_bad_input_among_good_ones_ends_with_exit_code_8(dump: Path, tmp_path: Path) -> None:
    result = run("info", dump, tmp_path / "none.smf")
    assert result.exit_code == 8
    assert "none.smf" in result.stderr
    assert result.stdout == ""


def test_a_dataset_with_a_broken_file_ends_with_exit_code_8(dump: Path, tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    clean("convert", dump, "--to", folder)
    for table in ("record", "qjst"):
        (file,) = (folder / table).iterdir()
        file.write_bytes(b"not Parquet at all")
    for arguments in (["info", folder], ["report", "log", folder]):
        result = run(*arguments)
        assert result.exit_code == 8, arguments
        assert str(folder) in result.stderr


def test_an_unknown_report_is_told_those_there_are(dump: Path) -> None:
    stderr = run("report", "lag", dump).stderr
    assert "lag" in stderr
    assert "there are adap, api-cost, application, buff, " in stderr


def test_an_existing_dataset_is_refused_without_force(dump: Path, tmp_path: Path) -> None:
    clean("convert", dump, "--to", tmp_path / "tables")
    refused = run("convert", dump, "--to", tmp_path / "tables")
    assert refused.exit_code == 2
    assert "--force" in refused.stderr
    clean("convert", dump, "--to", tmp_path / "tables", "--force")


RESULTS = pytest.mark.parametrize(
    "arguments",
    [
        *(["info", "DUMP"], ["report", "log", "DUMP"], ["sql", "DUMP", "SELECT * FROM qjst"]),
        ["compare", "DUMP", "DUMP"],
        ["check", "DUMP"],
        ["summary", "DUMP"],
        ["trend", "DUMP"],
        ["dashboard", "DUMP"],
        ["plot", "log-busy", "DUMP"],
        ["capacity", "log", "DUMP"],
    ],
    ids=lambda each: each[0],
)


@RESULTS
@pytest.mark.usefixtures("unjudged", "worked_out_once")
def test_output_writes_what_stdout_would_show(
    dump: Path, tmp_path: Path, arguments: list[str]
) -> None:
    arguments = [each.replace("DUMP", str(dump)) for each in arguments]
    output = tmp_path / "result.txt"
    assert clean(*arguments, "--output", output) == ""
    assert output.read_text(encoding="utf-8") == clean(*arguments)


@RESULTS
@pytest.mark.usefixtures("unjudged", "worked_out_once")
def test_an_existing_output_is_refused_without_force(
    dump: Path, tmp_path: Path, arguments: list[str]
) -> None:
    arguments = [each.replace("DUMP", str(dump)) for each in arguments]
    output = tmp_path / "result.txt"
    output.write_text("mine", encoding="utf-8")
    refused = run(*arguments, "--output", output)
    assert refused.exit_code == 2
    assert "--force" in refused.stderr
    assert output.read_text(encoding="utf-8") == "mine"
    clean(*arguments, "--output", output, "--force")
    assert output.read_text(encoding="utf-8") == clean(*arguments)


def test_an_output_that_is_a_folder_is_refused(dump: Path, tmp_path: Path) -> None:
    result = run("info", dump, "--output", tmp_path, "--force")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"smfparse: {tmp_path}: a folder with this name exists; give a file\n"


def test_an_output_in_a_folder_that_is_not_there_is_refused(dump: Path, tmp_path: Path) -> None:
    result = run("info", dump, "--output", tmp_path / "none" / "result.txt")
    assert result.exit_code == 8
    assert "result.txt" in result.stderr


def test_the_output_of_a_damaged_input_is_written_whole(cut: Path, tmp_path: Path) -> None:
    output = tmp_path / "result.txt"
    assert run("report", "log", cut, "--output", output).exit_code == 4
    assert output.read_text(encoding="utf-8") == run("report", "log", cut).stdout


def failing() -> Iterator[str]:
    yield "half of the result"
    raise RuntimeError("no other half")


@pytest.mark.parametrize("before", [None, "mine"])
def test_an_output_that_fails_leaves_the_folder_as_it_was(
    tmp_path: Path, before: str | None
) -> None:
    output = tmp_path / "result.txt"
    if before is not None:
        output.write_text(before, encoding="utf-8")
    with pytest.raises(RuntimeError):
        Output("text", output, force=True).write_lines(failing())
    left = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}
    assert left == ({} if before is None else {"result.txt": before})


def test_an_output_may_be_read_by_those_who_may_read_new_files(tmp_path: Path) -> None:
    (tmp_path / "new").touch()
    Output("text", tmp_path / "result.txt", force=False).write_lines(["line"])
    assert (tmp_path / "result.txt").stat().st_mode == (tmp_path / "new").stat().st_mode


QUERY = "SELECT record_no, qmgr, qjstwrnw FROM qjst ORDER BY record_no"


def test_sql_prints_a_table(dump: Path) -> None:
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in clean("sql", dump, QUERY).splitlines()
        if "---" not in line
    ]
    assert rows == [
        ["record_no", "qmgr", "qjstwrnw"],
        ["2", "QM01", "7"],
        ["3", "QM01", "7"],
    ]


def test_sql_prints_csv(dump: Path) -> None:
    text = clean("sql", dump, QUERY, "--format", "csv")
    assert list(csv.reader(text.splitlines())) == [
        ["record_no", "qmgr", "qjstwrnw"],
        ["2", "QM01", "7"],
        ["3", "QM01", "7"],
    ]


def test_sql_prints_json(dump: Path) -> None:
    assert json.loads(clean("sql", dump, QUERY, "--format", "json")) == [
        {"record_no": 2, "qmgr": "QM01", "qjstwrnw": 7},
        {"record_no": 3, "qmgr": "QM01", "qjstwrnw": 7},
    ]


@pytest.mark.parametrize("table", ["record", "qjst", "qjst_io"])
@pytest.mark.parametrize("form", FORMATS)
def test_sql_prints_whole_tables_in_every_form(dump: Path, table: str, form: str) -> None:
    assert "QM01" in clean("sql", dump, f"SELECT * FROM {table}", "--format", form)


def test_sql_without_rows_prints_the_header(dump: Path) -> None:
    query = "SELECT qmgr, record_no FROM wqst"
    assert clean("sql", dump, query, "--format", "csv").splitlines() == ["qmgr,record_no"]


def test_sql_reads_a_query_from_a_file(dump: Path, tmp_path: Path) -> None:
    script = tmp_path / "query.sql"
    script.write_text(f"-- naïve\n{QUERY}\n", encoding="utf-8")
    assert clean("sql", dump, "--file", script) == clean("sql", dump, QUERY)


def test_sql_over_several_inputs_sees_them_as_one(dump: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.smf"
    other.write_bytes(FIRST)
    query = "SELECT count(*) AS rows FROM qjst"
    assert clean("sql", dump, other, query, "--keep-duplicates", "--format", "csv").split() == [
        "rows",
        "3",
    ]


@pytest.mark.parametrize("start", ["=", "+", "-", "@"])
def test_no_text_of_sql_becomes_a_formula_in_csv(dump: Path, start: str) -> None:
    query = f"SELECT '{start}SUM(A1)' AS text, -5 AS number"
    text = clean("sql", dump, query, "--format", "csv")
    assert list(csv.reader(text.splitlines()))[1] == [f"'{start}SUM(A1)", "-5"]


def test_a_column_name_of_sql_does_not_become_a_formula_in_csv(dump: Path) -> None:
    text = clean("sql", dump, 'SELECT 1 AS "=1+1"', "--format", "csv")
    assert not text.startswith(("=", '"='))


def test_a_text_with_a_line_feed_is_one_line_of_csv(dump: Path, tmp_path: Path) -> None:
    output = tmp_path / "result.csv"
    query = "SELECT 'one' || chr(10) || 'two' AS text"
    clean("sql", dump, query, "--format", "csv", "--output", output)
    with output.open(newline="", encoding="utf-8") as file:
        assert list(csv.reader(file)) == [["text"], [r"one\x0atwo"]]


def test_the_installed_command_works(cut: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "report", "log", cut],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 4
    assert done.stdout == run("report", "log", cut).stdout
    assert f"byte 0x{len(HEADER) + len(FIRST):X}" in done.stderr
    assert "Traceback" not in done.stderr


ODD = (
    "SELECT a.*, b.* FROM qjst a JOIN qsst b USING (system)",
    "SELECT a.*, b.* FROM qjst a JOIN qjst b USING (record_no)",
    "SELECT 1 AS a, 2 AS a, 3 AS A",
    "SELECT INTERVAL 1 DAY AS i, union_value(a := 1) AS u",
    "SELECT {'a': 1} AS s, [1, 2] AS l, MAP {'a': 1} AS m, 'x'::BLOB AS b, '101'::BIT AS t",
    "SELECT uuid() AS u, TIME '12:00' AS t, DATE '2026-01-01' AS d, 2::HUGEINT AS h",
    "SELECT NULL AS n, 1.5::DECIMAL(9, 2) AS d, TIMESTAMPTZ '2026-01-01 00:00:00+00' AS z",
)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("query", ODD)
def test_sql_shows_every_type_and_every_name_in_every_form(
    dump: Path, query: str, form: str
) -> None:
    assert run("sql", dump, query, "--format", form).exit_code == 0


def test_columns_of_one_name_are_told_apart(dump: Path) -> None:
    shown = clean("sql", dump, "SELECT 1 AS a, 2 AS a, 3 AS A", "--format", "csv")
    assert shown.splitlines() == ["a,a_1,A_2", "1,2,3"]


def test_a_text_is_the_same_in_csv_and_text_whatever_is_in_it(dump: Path) -> None:
    odd = "SELECT 'x' || chr(11) || 'y' || chr(133) || 'z' || chr(8232) || 'w' AS a"
    shown = clean("sql", dump, odd, "--format", "csv")
    assert shown == "a\nx\\x0by\\x85z\\u2028w\n"
    assert r"x\x0by\x85z\u2028w" in clean("sql", dump, odd)


def test_dump_of_a_record_that_a_cut_file_lost_says_both(cut: Path) -> None:
    missed = run("dump", cut, "--record", "3")
    assert missed.exit_code == 2
    assert "the file is cut" in missed.stderr
    assert "no record 3" in missed.stderr


def test_info_of_a_dataset_says_what_was_lost_when_it_was_made(cut: Path, tmp_path: Path) -> None:
    run("convert", cut, "--to", tmp_path / "tables")
    shown = run("info", tmp_path / "tables")
    assert shown.exit_code == 0
    assert "the file is cut" in shown.stdout


def test_the_list_of_reports_says_which_the_input_has_data_for(dump: Path) -> None:
    everything = clean("report", "--list").splitlines()
    assert everything[0].split()[:2] == ["name", "title"]
    found = json.loads(clean("report", "--list", dump, "--format", "json"))["reports"]
    data = {each["name"]: each["data"] for each in found}
    assert len(everything) == len(data) + 1
    assert data["log"] is True
    assert data["dns"] is False


def test_interval_and_total_exclude_each_other(dump: Path) -> None:
    refused = run("report", "log", dump, "--interval", "1h", "--total")
    assert refused.exit_code == 2
    assert "exclude each other" in refused.stderr


def test_an_interval_that_is_none_is_told_what_one_is(dump: Path) -> None:
    refused = run("report", "log", dump, "--interval", "7m")
    assert refused.exit_code == 2
    assert "30s, 15m, 1h" in refused.stderr


def test_a_report_by_interval_names_its_bucket(dump: Path) -> None:
    found = json.loads(clean("report", "log", dump, "--interval", "1h", "--format", "json"))["rows"]
    assert found
    assert all(row["bucket"].endswith(":00:00") for row in found)


def test_a_report_that_has_no_such_name_refuses_to_select_by_it(dump: Path) -> None:
    refused = run("report", "log", dump, "--job", "J*", "--channel", "C")
    assert refused.exit_code == 2
    assert (
        "The report log has no job and no channel names; leave out --job and --channel."
        in refused.stderr
    )
    assert run("report", "dchs", dump, "--channel", "Q*").exit_code == 0


def test_the_list_takes_inputs_and_says_so_where_a_report_is_named(dump: Path) -> None:
    refused = run("report", "log", dump, "--list")
    assert refused.exit_code == 2
    assert "leave out log" in refused.stderr
    assert run("report", "no-such.smf", "--list").exit_code == 8
