"""Times that cannot be: wrapped durations, impossible moments, bytes that text mode has changed."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from smfparse.layout import Block, Duration, Instant, MicrosecondCount
from smfparse.schemas import QIS1, QJST, QMST, QWHS, WQST, WTAS
from tests.support.command import run
from tests.support.paths import SMF
from tests.support.real import REAL_DATA, needs_real_data

COMMANDS = [
    "summary", "info", "check", "dashboard", "trend", "capacity log", "report task", "report qall",
    "report msgm", "report log", "report api-cost", "report flow", "report smf-volume", "compare",
    "report qgets --total", "report msgm --interval 1h",
]  # fmt: skip
PATTERNS = ["00" * 7 + "01", "FF" * 8, "80" + "00" * 7, "FFFFFFFFFFFF4000", "7F" + "FF" * 7]
"""1900, 2042, and spans: negative, and of 71 years."""


def _answers(command: str, path: Path, folder: Path) -> None:
    """A command answers, or says why not by a documented exit code: `run` takes no exception."""
    words = command.split()
    inputs: list[object] = [path]
    if command == "compare":
        inputs = [path, path]
    if command == "dashboard":
        inputs += ["--output", folder / "page.html", "--force"]
    result = run(*words, *inputs)
    assert result.exit_code in (0, 4, 8), (command, result.output)


def _records(data: bytearray) -> Iterator[int]:
    at = 0
    while at < len(data):
        yield at
        at += int.from_bytes(data[at : at + 2])


def _areas(data: bytearray) -> Iterator[tuple[Block, int]]:
    """Yield blocks that have times, and where they start."""
    for at in _records(data):
        if data[at + 5] in (115, 116) and data[at + 3] == 0:
            area = at + int.from_bytes(data[at + 28 : at + 32])
            if int.from_bytes(data[area : area + 2]) == QWHS.size:
                yield QWHS, area
    for block in (WTAS, WQST, QMST, QJST, QIS1):
        for found in re.finditer(re.escape(f"{block.name:<4}".encode("cp500")), data):
            yield block, found.start() - 4


def _damaged(draw: random.Random) -> bytes:
    """Return the fixture with impossible bytes in one of four of its times."""
    data = bytearray(SMF.read_bytes())
    for block, start in [*_areas(data)]:
        for offset in _times(block):
            if draw.random() < 0.25:
                pattern = draw.choice([*PATTERNS, draw.randbytes(8).hex()])
                at = start + offset
                data[at : at + 8] = bytes.fromhex(pattern)
    return bytes(data)


def _times(block: Block) -> list[int]:
    kinds = Duration | Instant | MicrosecondCount
    return [each.offset for each in block.fields if isinstance(each.kind, kinds)]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("seed", [1, 2])
def test_commands_answer_whatever_the_times_are(command: str, seed: int, tmp_path: Path) -> None:
    path = tmp_path / "damaged.smf"
    path.write_bytes(_damaged(random.Random(seed)))

    _answers(command, path, tmp_path)


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_answer_where_the_smf_header_has_no_time(command: str, tmp_path: Path) -> None:
    data = bytearray(SMF.read_bytes())
    for number, at in enumerate(_records(data)):
        if number % 3 == 0:
            data[at + 6 : at + 14] = bytes.fromhex("FFFFFFFF9999366F")
    path = tmp_path / "undated.smf"
    path.write_bytes(data)

    _answers(command, path, tmp_path)


@needs_real_data
@pytest.mark.parametrize("command", COMMANDS)
def test_commands_answer_after_a_transfer_in_text_mode(command: str, tmp_path: Path) -> None:
    assert REAL_DATA
    path = tmp_path / "text.smf"
    path.write_bytes((REAL_DATA / "TESTCHL.dat").read_bytes().replace(b"\n", b"\r\n"))

    _answers(command, path, tmp_path)


def test_no_time_of_a_damaged_file_is_out_of_bounds(tmp_path: Path) -> None:
    path = tmp_path / "damaged.smf"
    path.write_bytes(_damaged(random.Random(3)))
    columns = ["smf_time", "time", "interval_start", "counted_at"]
    bounds = ", ".join(f"min({each})::VARCHAR, max({each})::VARCHAR" for each in columns)

    for table in ("record", "wtas", "wqst", "qmst"):
        answer = run("sql", path, f"SELECT {bounds} FROM {table}", "--format", "json")
        (row,) = json.loads(answer.stdout)
        found = [each for each in row.values() if each is not None]
        assert found, table
        assert all("1990" <= each < "2042" for each in found)
    lengths = "SELECT min(interval_seconds) AS a, max(interval_seconds) AS b FROM record"
    (row,) = json.loads(run("sql", path, lengths, "--format", "json").stdout)
    assert row["a"] >= 0
    assert row["b"] <= 1e9


@pytest.mark.parametrize("start", ["FF" * 8, "A1717CF7EFFFF000", "FEB91C7786000000"])
def test_queues_belong_to_their_task_if_its_start_cannot_be(start: str, tmp_path: Path) -> None:
    data = bytearray(SMF.read_bytes())
    for block, at in [*_areas(data)]:
        if block in (WTAS, WQST):
            offset = block.field("wtasstrt" if block is WTAS else "correl").offset
            data[at + offset : at + offset + 8] = bytes.fromhex(start)
    path = tmp_path / "started.smf"
    path.write_bytes(data)

    query = "SELECT sum(calls) AS calls FROM task WHERE intervals > 0"
    (before,), (after,) = _rows("sql", SMF, query), _rows("sql", path, query)
    orphans = "SELECT count(*) AS orphans FROM task WHERE intervals = 0"
    assert _rows("sql", path, orphans) == _rows("sql", SMF, orphans)
    assert after["calls"] == before["calls"] > 0


def _wrapped() -> Path:
    path = REAL_DATA / "cases" / "wrapped.smf" if REAL_DATA else None
    if path is None or not path.exists():
        pytest.skip("no cases/wrapped.smf beside the real data")
    return path


def _rows(*arguments: object) -> list[dict[str, Any]]:
    """Return the rows of a query, or of a report."""
    found: Any = json.loads(run(*arguments, "--format", "json").stdout)
    return found["rows"] if isinstance(found, dict) else found


AVERAGES = {
    "qgets": {"get_elapsed": 50, "on_queue_average": 900, "getn": 5001},
    "qall": {"get_elapsed": 50, "on_queue_average": 900, "queue_elapsed": 250_000},
    "task": {"get_elapsed": 50, "on_queue_average": 900},
    "tasksum": {"request_elapsed": 50, "elapsed_seconds": 0.25, "requests": 5001},
    "api-cost": {"call_elapsed": 50, "elapsed_seconds": 0.25, "calls": 5001},
}
"""By cases/README.md, 5,000 gets of 50 us, and one of a negative time."""


@pytest.mark.parametrize("name", AVERAGES)
def test_averages_leave_out_a_wrapped_time_and_its_calls(name: str) -> None:
    rows = _rows("report", name, "--total", _wrapped())

    for figure, value in AVERAGES[name].items():
        assert value in [row.get(figure) for row in rows], figure


def test_a_wrapped_time_is_null_and_the_views_average_without_it() -> None:
    path = _wrapped()

    (block,) = _rows(
        "sql", path, "SELECT getet, totlatnt, maxlatnt, getct FROM wqst WHERE getn = 1"
    )
    assert block == {"getet": None, "totlatnt": None, "maxlatnt": None, "getct": 20}
    (task,) = _rows("sql", path, "SELECT elapsed, calls, elapsed_per_call FROM task")
    assert task == {"elapsed": 250_000, "calls": 5001, "elapsed_per_call": 50}


@pytest.mark.parametrize("stored", [False, True])
def test_check_finds_wrapped_times_in_smf_data_and_in_a_parquet_archive(
    stored: bool, tmp_path: Path
) -> None:
    path = _wrapped()
    if stored:
        assert run("convert", path, "--to", tmp_path / "archive").exit_code == 0
        path = tmp_path / "archive"

    text = " ".join(run("check", path).stdout.split())

    assert "5 SMF-WRAPPED QA01" in text
    assert "2026/05/11 09:30 to 09:40" in text
    assert "GETET in 1, TOTLATNT in 1" in text
    assert "IT30371" in text
