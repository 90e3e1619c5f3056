"""What many small files cost: bytes and steps in proportion to what is in them."""

from __future__ import annotations

import datetime as dt
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pytest

from smfparse.cli import output as cli_output
from smfparse.decoding.table_buffers import TableBuffer
from smfparse.errors import DamageLog
from smfparse.inputs import ReadOptions, open_inputs
from smfparse.limits import Limits
from smfparse.reading import look_at, read_chunks
from smfparse.store import TableWriter
from smfparse.tables import wanted_tables
from tests.support.builders import rdw
from tests.support.command import run
from tests.support.paths import FIXTURES
from tests.support.smf import LOG_START, Log, log_record

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


def test_to_look_at_a_small_file_takes_its_first_megabyte_once(small: Path) -> None:
    assert small.stat().st_size < MIB // 4
    assert most_bytes(lambda: look_at(small)) < 2 * MIB


def test_to_read_a_small_file_takes_no_more_than_it_has(small: Path) -> None:
    assert most_bytes(lambda: list(read_chunks(small, DamageLog()))) < 2 * MIB


def test_small_files_are_decoded_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns are set up once, and rows of all files are in one batch a table."""
    files = [tmp_path / f"{number:02}.smf" for number in range(50)]
    for number, path in enumerate(files):
        start = LOG_START + dt.timedelta(seconds=10 * number)
        path.write_bytes(log_record(Log(), start=start) + log_record(Log(), start=start))
    made = 0
    begin = TableBuffer.__init__

    def counted(self: TableBuffer, *arguments: Any) -> None:
        nonlocal made
        made += 1
        begin(self, *arguments)

    monkeypatch.setattr(TableBuffer, "__init__", counted)
    wanted = wanted_tables(["qjst", "record"])
    found = list(open_inputs(files).batches(wanted))
    assert made == len(wanted)
    assert sorted(table for table, _ in found) == ["qjst", "record"]
    for _, batch in found:
        assert batch["source"].to_pylist() == [str(path) for path in files for _ in range(2)]
        assert batch["record_no"].to_pylist() == [1, 2] * 50


@pytest.mark.parametrize("limits", [Limits(), Limits(epoch_cells=64), Limits(epoch_bytes=2000)])
@pytest.mark.parametrize("jobs", [1, 2])
def test_rows_of_files_together_are_those_of_each(
    jobs: int, limits: Limits, tmp_path: Path
) -> None:
    paths = [tmp_path / name for name in ("a.smf", "b.smf", "c.smf")]
    for path, name in zip(paths, ("qm60.smf", "qm01-930.smf", "qm80.smf"), strict=True):
        path.write_bytes((FIXTURES / name).read_bytes())
    limits = replace(limits, least_unit=1 if jobs > 1 else limits.least_unit)
    together = open_inputs(paths, ReadOptions(jobs=jobs, keep_duplicates=True, limits=limits))
    for table in ("record", "qjst", "qjst_io", "wtas", "qpst", "qcst"):
        each = [open_inputs([path]).arrow(table) for path in paths]
        assert together.arrow(table).equals(pa.concat_tables(each))


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
