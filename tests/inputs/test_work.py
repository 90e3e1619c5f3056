"""What many small files cost: bytes and steps in proportion to what is in them."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from smfparse.cli import output as cli_output
from smfparse.errors import DamageLog
from smfparse.reading import look_at, read_chunks
from smfparse.store import TableWriter
from tests.support.builders import rdw
from tests.support.command import run
from tests.support.paths import FIXTURES
from tests.support.smf import Log, log_record

MIB = 1 << 20


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.smf"
    path.write_bytes((FIXTURES / "qm60.smf").read_bytes())
    return path


def most_bytes(work: Callable[[], Any]) -> int:
    """Return how much memory is taken at a time; what is loaded on the way does not count."""
    work()
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_to_look_at_and_read_a_small_file_takes_little_more_than_it_has(small: Path) -> None:
    assert small.stat().st_size < MIB // 4
    assert most_bytes(lambda: look_at(small)) < 2 * MIB
    assert most_bytes(lambda: list(read_chunks(small, DamageLog()))) < 2 * MIB


def test_a_batch_is_counted_once_however_many_are_held() -> None:
    counted = 0

    class Batch:
        @property
        def num_rows(self) -> int:
            nonlocal counted
            counted += 1
            return 1

    writer = TableWriter("qjst", lambda: 0, group_rows=10_000)
    for _ in range(1_000):
        writer.add(cast(Any, Batch()), 1)
    assert counted <= 3 * 1_000


def test_lines_are_written_many_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.smf"
    path.write_bytes(rdw([log_record(Log())] * 200))
    written: list[str] = []
    monkeypatch.setattr(cli_output.click, "echo", lambda text, **_: written.append(text))
    assert run("report", "log", path).exit_code == 0
    lines = "\n".join(written).splitlines()
    assert len(lines) > 2_000
    assert len(written) < len(lines) / 100
