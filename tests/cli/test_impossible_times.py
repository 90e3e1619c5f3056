"""Impossible times: wrapped durations, impossible moments, bytes that text mode has changed."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

from smfparse.layout.blocks import Block
from smfparse.layout.clocks import Duration, Instant, MicrosecondCount
from smfparse.reports.sections import TOTAL
from smfparse.schemas import QIS1, QJST, QMST, QWHS, WQST, WTAS
from tests.support.builders import put
from tests.support.command import in_json, run
from tests.support.corpora import opened_corpus
from tests.support.paths import SMF
from tests.support.real import REAL_DATA, case
from tests.support.searching import LONG, of_many, some

pytestmark = pytest.mark.slow
COMMANDS = [
    "check", "info", "report task", "dashboard", "report qall", "report flow", "summary", "trend",
    "capacity log", "report msgm", "report log", "report api-cost", "compare", "report smf-volume",
    "report qgets --total", "report msgm --interval 1h",
]  # fmt: skip
PATTERNS = ["00" * 7 + "01", "FF" * 8, "80" + "00" * 7, "FFFFFFFFFFFF4000", "7F" + "FF" * 7]
"""1900, 2042, and spans: negative, and of 71 years."""


def _records(data: bytearray) -> Iterator[int]:
    at = 0
    while at < len(data):
        yield at
        at += int.from_bytes(data[at : at + 2])


def _areas(data: bytearray) -> Iterator[tuple[Block, int]]:
    for at in _records(data):
        if data[at + 5] in (115, 116) and data[at + 3] == 0:
            area = at + int.from_bytes(data[at + 28 : at + 32])
            if int.from_bytes(data[area : area + 2]) == QWHS.size:
                yield QWHS, area
    for block in (WTAS, WQST, QMST, QJST, QIS1):
        for found in re.finditer(re.escape(f"{block.name:<4}".encode("cp500")), data):
            yield block, found.start() - 4


def _damaged(seed: int) -> bytes:
    """Return the fixture with impossible bytes in one of four of its times."""
    draw, data = random.Random(seed), bytearray(SMF.read_bytes())
    kinds = Duration | Instant | MicrosecondCount
    for block, start in [*_areas(data)]:
        for offset in (each.offset for each in block.fields if isinstance(each.kind, kinds)):
            if draw.random() < 0.25:
                pattern = draw.choice([*PATTERNS, draw.randbytes(8).hex()])
                data[start + offset : start + offset + 8] = bytes.fromhex(pattern)
    return bytes(data)


def _undated() -> bytes:
    """Return the fixture without the time of the SMF header in one of three records."""
    data = bytearray(SMF.read_bytes())
    for number, at in enumerate(_records(data)):
        if number % 3 == 0:
            data[at + 6 : at + 14] = bytes.fromhex("FFFFFFFF9999366F")
    return bytes(data)


DUMPS = {
    "times": lambda: _damaged(1),
    "other times": lambda: _damaged(2),
    "undated": _undated,
    "text": lambda: (
        (REAL_DATA / "TESTCHL.dat" if REAL_DATA else SMF).read_bytes().replace(b"\n", b"\r\n")
    ),
}
"""What the fixture is damaged to; a real file, if there is one, after a transfer as text."""


@pytest.mark.sampled(3)
@of_many("command, dump", some([*product(COMMANDS, DUMPS)][::-1], 7))
def test_commands_answer_whatever_the_times_are(command: str, dump: str, tmp_path: Path) -> None:
    """Or say why not by a documented exit code: `run` takes no exception."""
    path = put(tmp_path / "damaged.smf", DUMPS[dump]())
    inputs: list[object] = [path, path] if command == "compare" else [path]
    if command == "dashboard":
        inputs += ["--output", path.with_name("page.html")]
    assert run(*command.split(), *inputs).exit_code in (0, 4, 8)


def test_no_time_of_a_damaged_file_is_out_of_bounds(tmp_path: Path) -> None:
    path = put(tmp_path / "damaged.smf", _damaged(3))
    columns = ["smf_time", "time", "interval_start", "counted_at"]
    bounds = ", ".join(f"min({each})::VARCHAR, max({each})::VARCHAR" for each in columns)
    for table in ("record", "wtas", "wqst", "qmst"):
        (row,) = in_json("sql", path, f"SELECT {bounds} FROM {table}", code=4)
        found = [each for each in row.values() if each is not None]
        assert found, table
        assert all("1990" <= each < "2042" for each in found)
    lengths = "SELECT min(interval_seconds) AS a, max(interval_seconds) AS b FROM record"
    (row,) = in_json("sql", path, lengths, code=4)
    assert 0 <= row["a"] <= row["b"] <= 1e9


def test_queues_belong_to_their_task_if_its_start_cannot_be(tmp_path: Path) -> None:
    path = tmp_path / "started.smf"
    query = (
        "SELECT sum(calls) FILTER (intervals > 0) AS calls, "
        "count(*) FILTER (intervals = 0) AS orphans FROM task"
    )
    (before,) = in_json("sql", SMF, query)
    assert before["calls"] > 0
    for start in some(["A1717CF7EFFFF000", "FEB91C7786000000", "FF" * 8], 1):
        data = bytearray(SMF.read_bytes())
        for block, at in [*_areas(data)]:
            if block in (WTAS, WQST):
                offset = at + block.field("wtasstrt" if block is WTAS else "correl").offset
                data[offset : offset + 8] = bytes.fromhex(start)
        path.write_bytes(data)
        assert in_json("sql", path, query) == [before]


AVERAGES = {
    "qgets": {"get_elapsed": 50, "on_queue_average": 900, "getn": 5001},
    "qall": {"get_elapsed": 50, "on_queue_average": 900, "queue_elapsed": 250_000},
    "task": {"get_elapsed": 50, "on_queue_average": 900},
    "tasksum": {"request_elapsed": 50, "elapsed_seconds": 0.25, "requests": 5001},
    "api-cost": {"call_elapsed": 50, "elapsed_seconds": 0.25, "calls": 5001},
}
"""By cases/README.md, 5,000 gets of 50 us, and one of a negative time."""


def test_a_wrapped_time_is_null_is_in_no_average_and_is_a_finding(tmp_path: Path) -> None:
    path, archive = case("wrapped"), tmp_path / "archive"
    with opened_corpus("wrapped", path) as wrapped:
        for name, values in AVERAGES.items():
            rows = wrapped.rows(name, TOTAL)
            for figure, value in values.items():
                assert value in [row.get(figure) for row in rows], (name, figure)
        query = "SELECT getet, totlatnt, maxlatnt, getct FROM wqst WHERE getn = 1"
        (block,) = wrapped.select(query)
        (task,) = wrapped.select("SELECT elapsed, calls, elapsed_per_call FROM task")
    assert block == {"getet": None, "totlatnt": None, "maxlatnt": None, "getct": 20}
    assert task == {"elapsed": 250_000, "calls": 5001, "elapsed_per_call": 50}
    run("convert", path, "--to", archive, code=0)
    for each in (archive, path) if LONG else (archive,):
        text = " ".join(run("check", each).stdout.split())
        parts = ("5 SMF-WRAPPED QA01", "2026/05/11 09:30 to 09:40", "IT30371")
        for part in (*parts, "records by field: GETET 1, TOTLATNT 1"):
            assert part in text
