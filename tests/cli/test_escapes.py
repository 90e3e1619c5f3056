"""Whatever records, files and queries are called, no command prints a raw control character."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

import smfparse
from smfparse import reports
from smfparse.cli import main
from smfparse.rendering import FORMATS
from tests.support.hostile import CLIPBOARD, HARM, HARMFUL, LINK, hostile_dump, raw
from tests.support.paths import SMF
from tests.support.report_runs import printed, report_rows
from tests.support.searching import LONG, of_many, pairs, search, some

pytestmark = pytest.mark.slow

NAME = f"d{LINK[:5]}{CLIPBOARD}\n\u202e\x9b\\x1b.smf".replace("/", "")
"""What a file may be called; a line end in it does not begin a line of its own."""


def run(*arguments: object, stdin: str | bytes = "") -> Result:
    """Call smfparse, and fail where a raw control character is printed."""
    result = CliRunner().invoke(main, [str(each) for each in arguments], input=stdin)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
    assert raw(result.stdout_bytes) == []
    assert raw(result.stderr_bytes) == []
    return result


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hostile_dump(tmp_path_factory.mktemp("hostile") / NAME)


def test_the_dump_has_harm_in_the_names_of_all_sorts(dump: Path) -> None:
    data = smfparse.open(dump)
    for names in (
        *("record.system", "record.qmgr", "qmac.qwhccn", "wtid.wtidccn", "wtid.wtidopid"),
        *("wqst.basename", "wqst.objname", "qqst.qqstqnam", "qcst.qcstchnm"),
    ):
        table, column = names.split(".")
        assert any(map(raw, filter(None, data.arrow(table)[column].to_pylist()))), names


CALLS = [
    ["info"],
    ["check", "--all"],
    ["compare", "--split-at", "2026-03-04T09:30"],
    ["sql", "FROM wtid", "FROM wqst", "FROM qcst", "FROM qqst", "FROM record", "FROM damage"],
    ["sql", "FROM task", "FROM queue_activity", "FROM channel", "SUMMARIZE wqst"],
]


@of_many("arguments, form", pairs(CALLS, sorted(FORMATS))[:: 1 if LONG else 2])
def test_commands_show_it_in_every_format(dump: Path, form: str, arguments: list[str]) -> None:
    command, *others = arguments
    more = ["; ".join(others)] if command == "sql" else others
    result = run(command, dump, *more, "--format", form)
    assert result.exit_code == 0, result.stderr
    assert ("\\u001b" if form.startswith("json") else "x1b") in result.stdout


def test_every_report_shows_it_in_every_format(dump: Path) -> None:
    for name in some(reports.report_names(), 5):
        rows = report_rows(name, dump)
        for form in FORMATS:
            shown = "\n".join(printed(reports.report(name), rows, form))
            assert raw(shown.encode()) == [], (name, form)
    assert "x1b" in run("report", "task", dump).stdout


LETTERS = st.text(st.characters(max_codepoint=0xFF), min_size=1, max_size=20)
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="/\0"), max_size=20)


@search(1)
@given(LETTERS, NAMES, st.sampled_from(["task", "qsum", "dchs"]), st.sampled_from([*FORMATS]))
def test_any_letters_of_records_and_files_are_shown(
    tmp_path: Path, letters: str, name: str, report: str, form: str
) -> None:
    made = hostile_dump(tmp_path / f"d{name}", letters)
    for command, *more in (["info"], ["sql", "FROM wqst SELECT *, basename AS again"]):
        run(command, made, *more, "--format", form)
    run("report", report, made, "--format", form)
    made.unlink()


def test_side_by_side_and_dump_show_it(dump: Path, tmp_path: Path) -> None:
    assert r"\x" in run("compare", dump, dump, "--side-by-side", "--keep-duplicates").stdout
    for number in range(1, 60, 5):
        run("dump", dump, "--record", number)
    shown = run("info", dump).stdout
    run("info", dump, "--output", tmp_path / "info.txt")
    assert (tmp_path / "info.txt").read_text(encoding="utf-8") == shown


def test_text_files_show_it_and_others_keep_the_values(dump: Path, tmp_path: Path) -> None:
    values = smfparse.open(dump).arrow("wqst", ["basename"])
    for form in ("csv", "jsonl", "parquet", "arrow"):
        to = tmp_path / form
        chosen = ("--table", "wqst", "--columns", "basename")
        run("convert", dump, "--to", to, "--format", form, *chosen)
    assert raw((tmp_path / "csv" / "wqst.csv").read_bytes()) == []
    text = (tmp_path / "jsonl" / "wqst.jsonl").read_bytes()
    assert raw(text) == []
    names = values["basename"].to_pylist()
    assert any(map(raw, names))
    assert [json.loads(line)["basename"] for line in text.splitlines()] == names
    assert pq.read_table(tmp_path / "parquet" / "wqst.parquet")["basename"].to_pylist() == names
    with pa.ipc.open_file(tmp_path / "arrow" / "wqst.arrow") as file:
        assert file.read_all()["basename"].to_pylist() == names


def test_messages_show_the_names_of_files(dump: Path, tmp_path: Path) -> None:
    folder = tmp_path / f"{NAME}set"
    run("convert", dump, "--to", folder)
    again = run("convert", dump, "--to", folder, "--append")
    assert r"\x1b" in again.stderr
    assert len(again.stderr.splitlines()) == 2
    taken = run("convert", dump, "--to", folder)
    assert (taken.exit_code, taken.stderr.count("\n")) == (2, 1)
    cut = tmp_path / f"cut{NAME}"
    cut.write_bytes(dump.read_bytes()[:-5])
    for command in (["info"], ["report", "log"]):
        broken = run(*command, cut)
        assert broken.exit_code == 4
        assert r"\x1b" in broken.output
    strict = run("info", cut, "--strict")
    assert (strict.exit_code, strict.stderr.count("\n")) == (8, 1)
    assert "\n\u202e" not in run("info", dump, dump, cut).output
    assert raw(repr(smfparse.open(dump))) == []


def arguments_with(harm: str) -> list[list[object]]:
    """Calls that go wrong, each with harm in another place."""
    return [
        [f"--{harm}"],
        [harm],
        ["info", f"--{harm}"],
        ["info", SMF, "--format", harm],
        ["info", SMF, "--from", harm],
        ["info", SMF, "--type", harm],
        ["info", SMF, "--framing", harm],
        ["info", harm],
        ["info", SMF, "--output", f"/nowhere/{harm}.csv"],
        ["report", harm, SMF],
        ["report", "api-cost", SMF, "--by", harm],
        ["report", "log", SMF, "--interval", harm],
        ["compare", SMF, SMF, "--rename", harm],
        ["describe", harm],
        ["dump", SMF, "--at", harm],
        ["sql", SMF, f"SELECT '{harm}"],
        ["sql", SMF, f'SELECT "{harm}" FROM wqst'],
        ["sql", SMF, f"SELECT '{harm}'::INTEGER"],
        ["sql", SMF, "SELECT 1", "--file", harm],
        ["convert", SMF, "--to", f"/nowhere/{harm}", "--table", harm],
    ]


def test_messages_of_click_show_arguments() -> None:
    """All harm at once in each place, and each alone in one of them."""
    calls = arguments_with("".join(HARM))
    for number, harm in enumerate(HARM):
        each = arguments_with(harm)
        calls.append(each[number % len(each)])
    for arguments in calls:
        run(*(str(each).replace("\0", "\1") for each in arguments))
    assert run("info", SMF, "--qmgr", "\x1b").stderr.count(r"\x1b") == 1


def test_a_name_does_not_begin_a_line_of_a_message(tmp_path: Path) -> None:
    missing = run("info", tmp_path / "x\nsmfparse: all is well")
    assert missing.stderr.count("\n") == 1
    option = run("info", "--x\nsmfparse: all is well")
    assert "\nsmfparse" not in option.stderr


@of_many("form", some(sorted(FORMATS), 3))
@search(4)
@given(HARMFUL, HARMFUL)
def test_queries_show_what_they_name_and_give(form: str, name: str, value: str) -> None:
    alias = name.replace('"', '""').replace("\0", "") or "a"
    text = value.replace("'", "''").replace("\0", "")
    query = f"""SELECT '{text}' AS "{alias}", ['{text}'] AS b, {{'a': '{text}'}} AS "{alias}2" """
    result = run("sql", SMF, "--format", form, stdin=query.encode("utf-8", "replace"))
    assert result.exit_code == 0, result.stderr
