"""Whatever records, files and queries are called, no command prints a raw control character."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import Result

import smfparse
from smfparse.rendering.formats import FORMATS
from tests.support import command
from tests.support.hostile import CLIPBOARD, HARM, LINK, hostile_dump, raw
from tests.support.paths import FIXTURES
from tests.support.searching import LONG, of_many, pairs, some

pytestmark = pytest.mark.slow

SMF = FIXTURES / "qm60.smf"
NAME = f"d{LINK[:5]}{CLIPBOARD}\n\u202e\x9b\\x1b.smf".replace("/", "")
"""What a file may be called; a line end in it does not begin a line of its own."""


def run(*arguments: object, code: int | None = None) -> Result:
    """Call smfparse, and fail where a raw control character is printed."""
    result = command.run(*arguments, code=code)
    assert raw(result.stdout_bytes) == raw(result.stderr_bytes) == []
    return result


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hostile_dump(tmp_path_factory.mktemp("hostile") / NAME)


CALLS = [
    ["info"],
    ["check", "--all"],
    ["report task"],
    ["compare", "--split-at", "2026-03-04T09:30"],
    ["sql", "FROM wtid", "FROM wqst", "FROM qcst", "FROM qqst", "FROM record", "FROM damage"],
    ["sql", "FROM task", "FROM queue_activity", "FROM channel", "SUMMARIZE wqst"],
]


@of_many("arguments, form", pairs(CALLS, sorted(FORMATS))[:: 1 if LONG else 2])
def test_commands_show_it_in_every_format(dump: Path, form: str, arguments: list[str]) -> None:
    name, *others = arguments
    more = ["; ".join(others)] if name == "sql" else others
    shown = run(*name.split(), dump, *more, "--format", form, code=0).stdout
    assert ("\\u001b" if form.startswith("json") else "x1b") in shown


def test_side_by_side_and_dump_show_it(dump: Path, tmp_path: Path) -> None:
    assert r"\x" in run("compare", dump, dump, "--side-by-side", "--keep-duplicates").stdout
    for number in range(1, 60, 15):
        run("dump", dump, "--record", number)
    run("info", dump, "--output", tmp_path / "info.txt")
    assert (tmp_path / "info.txt").read_text("utf-8") == run("info", dump).stdout


def test_text_files_show_it_and_others_keep_the_values(dump: Path, tmp_path: Path) -> None:
    names = smfparse.open(dump).arrow("wqst", ["basename"])["basename"].to_pylist()
    assert any(map(raw, names))
    for form in ("csv", "jsonl", "parquet", "arrow"):
        chosen = ("--table", "wqst", "--columns", "basename", "--format", form)
        run("convert", dump, "--to", tmp_path / form, *chosen)
    text = (tmp_path / "jsonl" / "wqst.jsonl").read_bytes()
    assert raw((tmp_path / "csv" / "wqst.csv").read_bytes()) == raw(text) == []
    assert [json.loads(line)["basename"] for line in text.splitlines()] == names
    parquet = pq.read_table(tmp_path / "parquet" / "wqst.parquet")
    with pa.ipc.open_file(tmp_path / "arrow" / "wqst.arrow") as file:
        for found in (parquet, file.read_all()):
            assert found["basename"].to_pylist() == names


def test_messages_show_the_names_of_files(dump: Path, tmp_path: Path) -> None:
    folder, cut = tmp_path / f"{NAME}set", tmp_path / f"cut{NAME}"
    run("convert", dump, "--to", folder)
    again = run("convert", dump, "--to", folder, "--append").stderr
    assert (r"\x1b" in again, len(again.splitlines())) == (True, 2)
    assert run("convert", dump, "--to", folder, code=2).stderr.count("\n") == 1
    cut.write_bytes(dump.read_bytes()[:-5])
    for name in (["info"], ["report", "log"]):
        assert r"\x1b" in run(*name, cut, code=4).output
    assert run("info", cut, "--strict", code=8).stderr.count("\n") == 1
    assert "\n\u202e" not in run("info", dump, dump, cut).output
    assert raw(repr(smfparse.open(dump))) == []


def arguments_with(harm: str) -> list[list[object]]:
    options = ("--format", "--from", "--type", "--framing")
    queries = (f"SELECT '{harm}", f'SELECT "{harm}" FROM wqst', f"SELECT '{harm}'::INTEGER")
    return [
        *([f"--{harm}"], [harm], ["info", f"--{harm}"], ["info", harm], ["describe", harm]),
        *(["info", SMF, option, harm] for option in options),
        ["info", SMF, "--output", f"/nowhere/{harm}.csv"],
        ["report", harm, SMF],
        ["report", "api-cost", SMF, "--by", harm],
        ["report", "log", SMF, "--interval", harm],
        ["compare", SMF, SMF, "--rename", harm],
        ["dump", SMF, "--at", harm],
        *(["sql", SMF, query] for query in queries),
        ["sql", SMF, "SELECT 1", "--file", harm],
        ["convert", SMF, "--to", f"/nowhere/{harm}", "--table", harm],
    ]


@pytest.mark.usefixtures("unjudged")
def test_messages_of_click_show_arguments() -> None:
    """All harm at once in each place, and each alone in one of them."""
    calls = arguments_with("".join(HARM))
    for number, harm in enumerate(some(HARM, 3)):
        each = arguments_with(harm)
        calls.append(each[number * 7 % len(each)])
    for arguments in calls:
        run(*(str(each).replace("\0", "\1") for each in arguments))
    assert run("info", SMF, "--qmgr", "\x1b").stderr.count(r"\x1b") == 1
    assert run("info", "x\nsmfparse: all is well").stderr.count("\n") == 1
    assert "\nsmfparse" not in run("info", "--x\nsmfparse: all is well").stderr
