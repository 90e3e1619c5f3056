"""The command line: what is printed where, and with which exit code."""

from __future__ import annotations

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
from tests.support.searching import of_many, some
from tests.support.smf import LOG_START, Io, Log, log_record

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


def clean(*arguments: object) -> str:
    """Call smfparse; all is well, and nothing but data is on stdout."""
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.slow
def test_python_runs_the_package_as_the_command_and_so_does_its_script(cut: Path) -> None:
    assert clean("--version").strip() == f"smfparse, version {smfparse.__version__}"
    as_module, installed = [sys.executable, "-m", "smfparse"], [*COMMAND]
    wrong, done = (
        subprocess.run(each, capture_output=True, text=True, check=False)
        for each in ([*as_module, "info-of-what"], [*installed, "report", "log", cut])
    )
    assert wrong.returncode == 2
    assert wrong.stderr.startswith("Usage: python -m smfparse ")
    assert wrong.stderr.splitlines()[-1] == run("info-of-what").stderr.splitlines()[-1]
    assert (done.returncode, done.stdout) == (4, run("report", "log", cut).stdout)
    assert f"byte 0x{len(HEADER) + len(FIRST):X}" in done.stderr


def test_the_help_names_commands_and_exit_codes_and_that_of_a_command_has_an_example() -> None:
    text = clean("--help")
    assert all(f"{code} " in text.split("Exit codes:")[1] for code in (0, 2, 4, 8))
    for name in main.commands:
        assert f"  {name} " in text
        assert f"smfparse {name} " in clean(name, "--help").split("Example:")[1]
        assert clean(name, "-h") == clean(name, "--help")


def test_info_counts_records_and_bytes_of_each_kind(dump: Path) -> None:
    table, complete, inputs = clean("info", dump).split("\n\n")
    assert complete.splitlines() == [
        "QM01 on SYS1: complete",
        "  no records of STAT(4), STAT(5), ACCTG(3), ACCTG(4)",
    ]
    assert inputs == f"{dump}: rdw (the first 3 records have record descriptor words)\n"
    lines = [" ".join(line.split()) for line in table.splitlines()]
    assert lines == [
        "System QMgr Version Type Subtype Records Bytes First Last Trace Blocks",
        f"SYS1 QM01 9.3.0 115 1 2 {len(FIRST) + len(SECOND):,}"
        " 2023/10/02 11:53:02 2023/10/02 11:53:12 STAT 1 QSST QJST",
        "SYS1 - - 2 - 1 18 2023/10/02 11:52:52 2023/10/02 11:52:52 SMF dump header",
        f"Total 3 {dump.stat().st_size:,} 2023/10/02 11:53:02 2023/10/02 11:53:12",
    ]


def test_info_gives_the_same_as_json(dump: Path) -> None:
    found = json.loads(clean("info", dump, "--format", "json"))
    why = "the first 3 records have record descriptor words"
    assert found["inputs"] == [{"name": str(dump), "packing": [], "framing": "rdw", "why": why}]
    assert (found["records"], found["bytes"]) == (3, dump.stat().st_size)
    assert (found["damage"], found["damage_count"]) == ([], 0)
    of_mq = ("SYS1", "QM01", "9.3.0", 115, 1, 2, len(FIRST) + len(SECOND))
    of_mq += ("2023-10-02T11:53:02", "2023-10-02T11:53:12", "STAT 1", ["QSST", "QJST"])
    of_smf = ("SYS1", None, None, 2, None, 1, 18, *["2023-10-02T11:52:52"] * 2, None, [])
    assert [tuple(each.values()) for each in found["groups"]] == [of_mq, of_smf]
    names = "system qmgr mq_version type subtype records bytes first last trace blocks"
    assert [*found["groups"][0]] == names.split()


def test_what_convert_writes_can_be_queried(dump: Path, tmp_path: Path) -> None:
    folder = tmp_path / "tables"
    converted = run("convert", dump, "--to", folder)
    assert (converted.exit_code, converted.stdout) == (0, "")
    assert "7 rows in 3 tables" in converted.stderr
    query = "SELECT count(*) AS rows, sum(qjstwrnw)::BIGINT AS nowait FROM qjst"
    text = clean("sql", folder, query, "--format", "csv")
    assert text.splitlines() == ["rows,nowait", "2,14"]
    told = clean("info", dump).rpartition("\n\n")[0]
    assert clean("info", folder) == f"{told}\n\n{folder}: Parquet (a dataset)\n"


def test_a_report_without_its_data_says_which_trace_to_start(tmp_path: Path) -> None:
    without_log = tmp_path / "header.smf"
    without_log.write_bytes(HEADER)
    result = run("report", "log", without_log)
    assert result.exit_code == 0
    assert "START TRACE(STAT) CLASS(1)" in result.stderr
    assert "115 subtype 1" in result.stderr
    assert len(result.stdout.splitlines()) == 1
    assert "VRM" not in result.stdout
    (header,) = clean("report", "log", without_log, "--format", "csv").splitlines()
    assert header.startswith("z/OS,QM,Date,Time,")


def test_a_cut_file_gives_its_good_records_and_exit_code_4(cut: Path, tmp_path: Path) -> None:
    whole = tmp_path / "whole.smf"
    whole.write_bytes(rdw([HEADER, FIRST]))
    said = f"{cut}: byte 0x{len(HEADER) + len(FIRST):X}: the file is cut"
    for command, *more in (
        ["report", "log"],
        ["sql", "SELECT * EXCLUDE (source) FROM qjst"],
        ["convert", "--to", f"{tmp_path}/tables"],
    ):
        name = [more.pop(0)] if command == "report" else []
        result = run(command, *name, cut, *more)
        assert result.exit_code == 4
        assert result.stderr.count(said) == result.stderr.count("the file is cut") == 1
        if command != "convert":
            assert result.stdout == clean(command, *name, whole, *more)
    result = run("info", cut)
    assert (result.exit_code, said in result.stdout) == (4, True)
    assert result.stdout.startswith(clean("info", whole).partition("\n\n")[0])
    found = json.loads(run("info", cut, "--format", "json").stdout)
    [row] = found["damage"]
    at = len(HEADER) + len(FIRST)
    assert (found["damage_count"], row["record_offset"]) == (1, at)
    assert row["bytes"] == len(SECOND) - 5
    shown = run("info", tmp_path / "tables")
    assert shown.exit_code == 0
    assert "the file is cut" in shown.stdout
    missed = run("dump", cut, "--record", "3")
    assert missed.exit_code == 2
    assert "the file is cut" in missed.stderr
    assert "no record 3" in missed.stderr


def test_many_damages_are_counted_not_all_shown(tmp_path: Path) -> None:
    later = bytes.fromhex("0008020000000000")
    path = tmp_path / "spans.smf"
    path.write_bytes(rdw([FIRST, *[later] * 25, SECOND]))
    result = run("info", path)
    said = run("sql", path, "SELECT count(*) FROM damage", "--format", "csv")
    assert said.stdout.split() == ["count_star()", "25"]
    for code, text in ((result.exit_code, result.stdout), (said.exit_code, said.stderr)):
        assert code == 4
        assert text.count("a later segment without its first one") == 20
        assert "... and 5 more; the table damage has all" in text


def test_a_wrong_call_of_a_report_says_the_way_out(dump: Path) -> None:
    names = "The report log has no job and no channel names; leave out --job and --channel."
    for arguments, said in (
        (["lag", dump], "unknown report 'lag'; did you mean log?"),
        (["xyzzy", dump], "use adap, api-cost, application, buff, "),
        (["log", dump, "--interval", "1h", "--total"], "exclude each other"),
        (["log", dump, "--interval", "7m"], "30s, 15m, 1h"),
        (["log", dump, "--job", "J*", "--channel", "C"], names),
        (["log", dump, "--list"], "leave out log"),
    ):
        refused = run("report", *arguments)
        assert refused.exit_code == 2
        assert said in refused.stderr
    assert run("report", "dchs", dump, "--channel", "Q*").exit_code == 8
    assert run("report", "no-such.smf", "--list").exit_code == 8


RESULTS = (
    *("info DUMP", "trend DUMP", "report log DUMP", "compare DUMP DUMP"),
    *("capacity log DUMP", "check DUMP", "plot log-busy DUMP", "dashboard DUMP"),
    *("sql DUMP FROM_qjst", "summary DUMP"),
)


@pytest.mark.slow
@of_many("call", some(RESULTS, 5))
def test_output_writes_what_stdout_would_show_and_replaces_a_file_only_by_force(
    dump: Path, tmp_path: Path, call: str
) -> None:
    names = {"DUMP": str(dump), "FROM_qjst": "FROM qjst"}
    arguments = [names.get(each, each) for each in call.split()]
    output = tmp_path / "result.txt"
    output.write_text("mine", encoding="utf-8")
    refused = run(*arguments, "--output", output)
    assert refused.exit_code == 2
    assert "--force" in refused.stderr
    assert output.read_text(encoding="utf-8") == "mine"
    assert clean(*arguments, "--output", output, "--force") == ""
    assert output.read_text(encoding="utf-8") == clean(*arguments)


def test_an_output_that_cannot_be_a_file_is_refused(dump: Path, tmp_path: Path) -> None:
    result = run("info", dump, "--output", tmp_path, "--force")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"smfparse: {tmp_path}: a folder with this name exists; give a file\n"
    result = run("info", dump, "--output", tmp_path / "none" / "result.txt")
    assert result.exit_code == 8
    assert "result.txt" in result.stderr


def failing() -> Iterator[str]:
    yield "half of the result"
    raise RuntimeError("no other half")


def test_an_output_that_fails_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "new").touch()
    output = tmp_path / "result.txt"
    with pytest.raises(RuntimeError):
        Output("text", output, force=False).write_lines(failing())
    assert [path.name for path in tmp_path.iterdir()] == ["new"]
    Output("text", output, force=False).write_lines(["line"])
    assert output.stat().st_mode == (tmp_path / "new").stat().st_mode
    with pytest.raises(RuntimeError):
        Output("text", output, force=True).write_lines(failing())
    assert output.read_text(encoding="utf-8") == "line\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new", "result.txt"]


def test_a_text_is_one_line_of_csv_and_text_whatever_is_in_it(dump: Path, tmp_path: Path) -> None:
    odd = "SELECT 'u' || chr(10) || 'x' || chr(11) || 'y' || chr(133) || 'z' || chr(8232) AS a"
    output = tmp_path / "result.csv"
    clean("sql", dump, odd, "--format", "csv", "--output", output)
    assert output.read_bytes() == rb"a" b"\n" rb"u\x0ax\x0by\x85z\u2028" b"\n"
    assert r"u\x0ax\x0by\x85z\u2028" in clean("sql", dump, odd)


ODD = (
    "SELECT a.*, b.* FROM qjst a JOIN qsst b USING (system)",
    "SELECT a.*, b.* FROM qjst a JOIN qjst b USING (record_no)",
    "SELECT 1 AS a, 2 AS a, 3 AS A",
    "SELECT INTERVAL 1 DAY AS i, union_value(a := 1) AS u",
    "SELECT {'a': 1} AS s, [1, 2] AS l, MAP {'a': 1} AS m, 'x'::BLOB AS b, '101'::BIT AS t",
    "SELECT uuid() AS u, TIME '12:00' AS t, DATE '2026-01-01' AS d, 2::HUGEINT AS h",
    "SELECT NULL AS n, 1.5::DECIMAL(9, 2) AS d, TIMESTAMPTZ '2026-01-01 00:00:00+00' AS z",
)


@pytest.mark.slow
def test_sql_shows_every_type_and_every_name_in_every_form(dump: Path) -> None:
    for form in FORMATS:
        done = run("sql", dump, "; ".join(ODD), "--format", form)
        assert (form, done.exit_code, done.stderr) == (form, 0, "")
        assert "QM01" in done.stdout


def test_the_list_of_reports_says_which_the_input_has_data_for(dump: Path) -> None:
    everything = clean("report", "--list").splitlines()
    assert everything[0].split()[:2] == ["name", "title"]
    found = json.loads(clean("report", "--list", dump, "--format", "json"))["reports"]
    data = {each["name"]: each["data"] for each in found}
    assert [each.split()[0] for each in everything[1:] if each[0] != " "] == [*data]
    assert data["log"] is True
    assert data["dns"] is False
