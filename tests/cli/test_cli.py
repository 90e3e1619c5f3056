"""The command line: what is printed where, and with which exit code."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import smfparse
from smfparse.cli import main
from smfparse.cli.output import Output
from smfparse.rendering.formats import FORMATS
from tests.support.builders import Write, foreign_record
from tests.support.command import COMMAND, READING, in_json, named, printed, reading_call, run
from tests.support.datasets import convert
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
def dump(write: Write) -> Path:
    """A dump header and two 115/1 records of one queue manager."""
    return write(HEADER, FIRST, SECOND, name="dump.smf")


@pytest.fixture
def cut(write: Write) -> Path:
    """The same file, 5 bytes short."""
    return write(HEADER, FIRST, SECOND[:-5], name="cut.smf")


@pytest.mark.slow
def test_python_runs_the_package_as_the_command_and_so_does_its_script(cut: Path) -> None:
    assert printed("--version").strip() == f"smfparse, version {smfparse.__version__}"
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
    text = printed("--help")
    assert all(f"{code} " in text.split("Exit codes:")[1] for code in (0, 2, 4, 8))
    for name in main.commands:
        assert f"  {name} " in text
        assert f"smfparse {name} " in printed(name, "--help").split("Example:")[1]
        assert printed(name, "-h") == printed(name, "--help")


def test_info_counts_records_and_bytes_of_each_kind(dump: Path, tmp_path: Path) -> None:
    text = printed("info", dump)
    table, complete, inputs = text.split("\n\n")
    assert complete.splitlines() == [
        "QM01 on SYS1: complete",
        "  no records of STAT(4), STAT(5), ACCTG(3), ACCTG(4)",
    ]
    why = "the first 3 records have record descriptor words"
    assert inputs == f"{dump}: rdw ({why})\n"
    lines = [" ".join(line.split()) for line in table.splitlines()]
    assert lines == [
        "System QMgr Version Type Subtype Records Bytes First Last Trace Blocks",
        f"SYS1 QM01 9.3.0 115 1 2 {len(FIRST) + len(SECOND):,}"
        " 2023/10/02 11:53:02 2023/10/02 11:53:12 STAT 1 QSST QJST",
        "SYS1 - - 2 - 1 18 2023/10/02 11:52:52 2023/10/02 11:52:52 SMF dump header",
        f"Total 3 {dump.stat().st_size:,} 2023/10/02 11:53:02 2023/10/02 11:53:12",
    ]
    found = in_json("info", dump)
    assert found["inputs"] == [{"name": str(dump), "packing": [], "framing": "rdw", "why": why}]
    assert (found["records"], found["bytes"]) == (3, dump.stat().st_size)
    assert (found["damage"], found["damage_count"]) == ([], 0)
    names = ["system", "qmgr", "mq_version", "type", "subtype", "records", "bytes", "trace"]
    assert [[each[name] for name in names] for each in found["groups"]] == [
        ["SYS1", "QM01", "9.3.0", 115, 1, 2, len(FIRST) + len(SECOND), "STAT 1"],
        ["SYS1", None, None, 2, None, 1, 18, None],
    ]
    first = found["groups"][0]
    assert (first["first"], first["last"]) == ("2023-10-02T11:53:02", "2023-10-02T11:53:12")
    assert first["blocks"] == ["QSST", "QJST"]

    folder = tmp_path / "tables"
    assert "7 rows in 3 tables" in convert(dump, "--to", folder).stderr
    told = text.rpartition("\n\n")[0]
    assert printed("info", folder) == f"{told}\n\n{folder}: Parquet (a dataset)\n"


def test_a_cut_file_gives_its_good_records(cut: Path, write: Write, tmp_path: Path) -> None:
    whole, tables = write(HEADER, FIRST, name="whole.smf"), tmp_path / "tables"
    at = len(HEADER) + len(FIRST)
    said = f"{cut}: byte 0x{at:X}: the file is truncated"
    for command in (
        ["report", "log", "INPUT"],
        ["sql", "INPUT", "SELECT * EXCLUDE (source) FROM qjst"],
        ["convert", "INPUT", "--to", "OUT"],
    ):
        result = run(*named(command, cut, tables), code=4)
        assert result.stderr.count(said) == result.stderr.count("the file is truncated") == 1
        assert result.stdout == printed(*named(command, whole, tmp_path / "other"))
    shown = run("info", cut, code=4).stdout
    assert said in shown
    assert shown.startswith(printed("info", whole).partition("\n\n")[0])
    found = in_json("info", cut, code=4)
    [row] = found["damage"]
    assert (found["damage_count"], row["record_offset"]) == (1, at)
    assert row["bytes"] == len(SECOND) - 5
    assert "the file is truncated" in printed("info", tables)
    missed = run("dump", cut, "--record", "3", code=2).stderr
    assert ("the file is truncated" in missed, "no record 3" in missed) == (True, True)


def test_many_damages_are_counted_not_all_shown(write: Write) -> None:
    path = write(FIRST, *[bytes.fromhex("0008020000000000")] * 25, SECOND)
    said = run("sql", path, "SELECT count(*) FROM damage", "--format", "csv", code=4)
    assert said.stdout.split() == ["count_star()", "25"]
    for text in (run("info", path, code=4).stdout, said.stderr):
        assert text.count("a later segment without the first segment") == 20
        assert "... and 5 more; the table damage lists all" in text


def test_a_wrong_call_of_a_report_says_the_way_out(dump: Path) -> None:
    names = "The report log has no job and no channel names; leave out --job and --channel."
    for options, said in {
        "--interval 1h --total": "exclude each other",
        "--interval 7m": "30s, 15m, 1h",
        "--job J* --channel C": names,
        "--list": "leave out log",
    }.items():
        assert said in run("report", "log", dump, *options.split(), code=2).stderr
    run("report", "no-such.smf", "--list", code=8)


WRITING = sorted({*READING} - {"dump", "convert", "anonymise"})


@pytest.mark.slow
@pytest.mark.usefixtures("unjudged")
@of_many("name", some(WRITING, 3))
def test_output_is_stdout_and_replaces_only_by_force(dump: Path, tmp_path: Path, name: str) -> None:
    arguments, output = reading_call(name, dump, ""), tmp_path / "result.txt"
    output.write_text("mine", encoding="utf-8")
    assert "--force" in run(*arguments, "--output", output, code=2).stderr
    assert output.read_text(encoding="utf-8") == "mine"
    assert printed(*arguments, "--output", output, "--force") == ""
    assert output.read_text(encoding="utf-8") == printed(*arguments)


def test_an_output_is_no_folder_and_replaces_a_link_to_itself(dump: Path, tmp_path: Path) -> None:
    result = run("info", dump, "--output", tmp_path, "--force", code=2)
    said = f"smfparse: {tmp_path}: a folder with this name exists; give a file\n"
    assert (result.stdout, result.stderr) == ("", said)
    loop = tmp_path / "x.txt"
    loop.symlink_to(loop)
    assert printed("info", dump, "--output", loop) == ""
    assert loop.read_text("utf-8").startswith("System")


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
        done = run("sql", dump, "; ".join(ODD), "--format", form, code=0)
        assert (done.stderr, "QM01" in done.stdout) == ("", True), form
