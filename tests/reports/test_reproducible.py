"""Figures are the same to the last digit, in whatever order rows come and whoever adds them up."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import polars as pl
import pytest

import smfparse
from smfparse.advice.answering import answered_rows
from smfparse.inputs.opening import open_inputs
from smfparse.metrics.views import view_names
from smfparse.query.catalog import Catalog
from smfparse.reports.declaration import report, report_names
from smfparse.reports.sections import TOTAL, Sections, every
from tests.support.builders import lost_record, put
from tests.support.generated import generate_dump
from tests.support.report_runs import anyone, printed
from tests.support.searching import of_many, pairs, some
from tests.support.traffic import AGENTS, OTHER_PAIR, PAIR

pytestmark = pytest.mark.slow

FILES = 4
"""Files of a dump."""
ORDERS = 2
"""Orders of the files in which each report and view is tried."""


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
    ).read_bytes() + b"".join([*PAIR, *OTHER_PAIR, *AGENTS, *losses(start)])
    parts: list[list[bytes]] = [[] for _ in range(FILES)]
    chance, at = random.Random(seed), 0
    while at < len(whole):
        record = whole[at : at + int.from_bytes(whole[at : at + 2])]
        chance.choice(parts).append(record)
        at += len(record)
    return [put(folder / f"dump{seed}-{n}.smf", *records) for n, records in enumerate(parts)]


def losses(start: dt.datetime) -> Iterator[bytes]:
    """SMF lost records twice."""
    for minute in (3, 9):
        since = start + dt.timedelta(minutes=minute)
        yield lost_record(since, since + dt.timedelta(seconds=20), 100 * minute)


def orders(files: Sequence[Path]) -> list[list[Path]]:
    """The files in several orders, always the same ones."""
    chance = random.Random(11)
    return [chance.sample(files, len(files)) for _ in range(ORDERS)]


@pytest.fixture(scope="module")
def in_orders(files: list[Path]) -> Iterator[list[Catalog]]:
    """The files in each order, each worked out by a thread more."""
    with ExitStack() as opening:
        found = []
        for threads, order in enumerate(orders(files), start=1):
            found.append(opening.enter_context(Catalog(open_inputs(order))))
            found[-1].execute(f"SET threads = {threads}")
        yield found


def lines_of(name: str, catalog: Catalog, sections: Sections | None = None) -> list[str]:
    """The lines of a report as JSON."""
    which = report(name)
    rows = list(answered_rows(which, catalog, sections, **anyone(which)))
    return list(printed(which, rows, "json"))


@pytest.mark.sampled(3)
@of_many("name, sections", some(pairs(report_names(), [TOTAL, every("15m"), None]), 7), ids=str)
def test_a_report_is_the_same_in_whatever_order_records_come(
    name: str, sections: Sections | None, in_orders: list[Catalog]
) -> None:
    first, *others = [lines_of(name, each, sections) for each in in_orders]
    assert len(first) > 2
    for other in others:
        assert other == first


@pytest.mark.long
def test_a_view_has_the_same_rows_in_whatever_order_records_come(in_orders: list[Catalog]) -> None:
    for name in view_names():
        first, *others = [
            pl.DataFrame(each.arrow(f"SELECT * FROM {name} ORDER BY ALL")) for each in in_orders
        ]
        assert first.height
        for other in others:
            assert other.equals(first), name


@pytest.mark.long
def test_a_comparison_is_the_same_in_whatever_order_records_come(files: list[Path]) -> None:
    first, *others = [
        smfparse.compare(smfparse.open(before), smfparse.open(after), by="queue,verb")
        for before, after in zip(orders(files[:FILES]), orders(files[FILES:]), strict=True)
    ]
    assert first["significant"].count() > 2
    for other in others:
        assert other.equals(first)
