"""Figures are the same to the last digit, in whatever order rows come and whoever adds them up."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

import smfparse
from smfparse import reports
from smfparse.advice import answered_rows
from smfparse.inputs import ReadOptions, open_inputs
from smfparse.limits import Limits
from smfparse.query import Catalog
from smfparse.reports import TOTAL, Sections, every
from smfparse.tables import view_names
from tests.support.generated import generate_dump
from tests.support.report_runs import anyone, printed
from tests.support.searching import of_many, pairs
from tests.support.traffic import AGENTS, OTHER_PAIR, PAIR

pytestmark = pytest.mark.slow

FILES = 4
"""Files of a dump."""
ORDERS = 2
"""Orders of the files in which each report and view is tried."""

SERIAL = ReadOptions()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two dumps of the same times, so that records tie for the last; each dealt out to files."""
    folder = tmp_path_factory.mktemp("site")
    length = dt.timedelta(minutes=7, seconds=11, microseconds=123_457)
    return [part for seed in range(2) for part in dealt(folder, seed, length)]


def dealt(folder: Path, seed: int, length: dt.timedelta) -> list[Path]:
    """A dump whose records are dealt out to FILES, so that those of a task are in several."""
    start = dt.datetime(2026, 3, 4, 9, 0, 0, 333_333)
    whole = generate_dump(
        folder / f"whole{seed}.smf", start=start, interval=length, count=5, tasks=4, seed=seed
    ).read_bytes() + b"".join([*PAIR, *OTHER_PAIR, *AGENTS])
    parts: list[list[bytes]] = [[] for _ in range(FILES)]
    chance, at = random.Random(seed), 0
    while at < len(whole):
        record = whole[at : at + int.from_bytes(whole[at : at + 2])]
        chance.choice(parts).append(record)
        at += len(record)
    paths = [folder / f"dump{seed}-{number}.smf" for number in range(FILES)]
    for path, records in zip(paths, parts, strict=True):
        path.write_bytes(b"".join(records))
    return paths


def orders(files: Sequence[Path]) -> list[list[Path]]:
    """The files in several orders, always the same ones."""
    chance = random.Random(11)
    return [chance.sample(files, len(files)) for _ in range(ORDERS)]


def lines_of(
    name: str,
    files: Sequence[Path],
    sections: Sections | None = None,
    threads: int = 1,
    options: ReadOptions = SERIAL,
) -> list[str]:
    """The lines of a report as JSON, worked out by so many threads."""
    which = reports.report(name)
    with Catalog(open_inputs(files, options)) as catalog:
        catalog.execute(f"SET threads = {threads}")
        rows = list(answered_rows(which, catalog, sections, **anyone(which)))
    return list(printed(which, rows, "json"))


@of_many("name, sections", pairs(reports.report_names(), [TOTAL, every("15m"), None]), ids=str)
def test_a_report_is_the_same_in_whatever_order_records_come(
    name: str, sections: Sections | None, files: list[Path]
) -> None:
    first, *others = [
        lines_of(name, order, sections, threads)
        for threads, order in enumerate(orders(files), start=1)
    ]
    assert len(first) > 2
    for other in others:
        assert other == first


@pytest.mark.parametrize("name", ["api-cost", "log", "smf-volume", "task"])
def test_a_report_is_the_same_by_however_many_processes(name: str, tmp_path: Path) -> None:
    dump = generate_dump(tmp_path / "dump.smf", tasks=60)
    small = Limits(chunk_bytes=1 << 18, max_spanned=1 << 16, least_unit=1 << 18)
    alone, shared = (
        lines_of(name, [dump], threads=jobs, options=ReadOptions(jobs=jobs, limits=small))
        for jobs in (1, 3)
    )
    assert shared == alone


@pytest.mark.parametrize("name", view_names())
def test_a_view_has_the_same_rows_in_whatever_order_records_come(
    name: str, files: list[Path]
) -> None:
    first, *others = [
        pl.DataFrame(smfparse.open(order).sql(f"SELECT * FROM {name} ORDER BY ALL"))
        for order in orders(files)
    ]
    assert first.height
    for other in others:
        assert other.equals(first)


def test_a_comparison_is_the_same_in_whatever_order_records_come(files: list[Path]) -> None:
    first, *others = [
        smfparse.compare(smfparse.open(before), smfparse.open(after), by="queue,verb")
        for before, after in zip(orders(files[:FILES]), orders(files[FILES:]), strict=True)
    ]
    assert first["significant"].count() > 2
    for other in others:
        assert other.equals(first)
