"""--top and --sort of reports of rows: the largest first, as many of each table as asked for."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

import smfparse
from smfparse import reports
from smfparse.errors import RequestError
from smfparse.inputs import ReadOptions, open_inputs
from smfparse.limits import Limits
from smfparse.query import Catalog
from smfparse.reports import TOTAL
from smfparse.simulating import load_estate, simulate
from tests.support.command import run
from tests.support.generated import generate_dump
from tests.support.searching import some
from tests.support.small_site import write_small_site

RANKED = {
    name: each.ranked
    for name in reports.report_names()
    if (each := reports.report(name)).is_rankable
}
"""What `--top` ranks by; '': the order of the report."""
OWN = {"api-cost", "application"}
"""Reports whose SQL takes `top` itself, as it is about groups of rows."""
SECTIONS = {"class1": TOTAL}
"""What makes sections where those of the report have a row each."""
SCENARIOS = {"cluster": "cluster", "mft": "mft", "requests": "reqrep"}
Rows = Sequence[Mapping[str, Any]]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two systems and several queue managers; their queues, jobs and channels are many."""
    folder = tmp_path_factory.mktemp("ranking")
    dump = generate_dump(folder / "dump.smf", version="10.0.0", count=2, tasks=6)
    return [write_small_site(folder / "site.smf"), dump]


@pytest.fixture(scope="module")
def catalog(files: list[Path]) -> Iterator[Catalog]:
    with Catalog(open_inputs(files)) as found:
        yield found


@pytest.fixture
def of_report(
    name: str, catalog: Catalog, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Catalog]:
    """What has several rows of a report: a simulated day of what others do not have."""
    if name not in SCENARIOS:
        yield catalog
        return
    path = tmp_path_factory.mktemp(name) / "day.smf"
    simulate(path, load_estate(SCENARIOS[name], interval=dt.timedelta(hours=12)))
    with Catalog(open_inputs([path])) as found:
        yield found


def ranked(name: str, rows: Rows, figure: str, top: int | None) -> Rows:
    """The rows of each table by a figure, the largest first; what has none is last."""
    found: list[Mapping[str, Any]] = []
    line = "line" if reports.report(name).kinds else ""
    for _, several in groupby(rows, lambda row: (str(row["section"]), row.get(line))):
        by_size = list(several)
        if figure:
            by_size.sort(key=lambda row: (row[figure] is None, -(row[figure] or 0)))
        found += by_size[:top]
    return found


def test_every_report_that_takes_top_is_ranked_in_one_way() -> None:
    taking = {name for name in reports.report_names() if "top" in reports.report(name).options}
    assert taking == RANKED.keys() | OWN


@pytest.mark.fuzz
@pytest.mark.parametrize("name", RANKED)
def test_rows_are_ranked_by_any_figure_and_top_takes_the_largest(
    name: str, of_report: Catalog
) -> None:
    which = reports.report(name)
    rows = list(reports.run_report(which, of_report, SECTIONS.get(name)))
    assert len(rows) > len({str(row["section"]) for row in rows})
    assert {*which.choices["sort"]} <= rows[0].keys()
    numbers = [
        each
        for each in which.choices["sort"]
        if not any(isinstance(row[each], str) for row in rows)
    ]
    expected = ranked(name, rows, RANKED[name], 2)
    assert list(reports.run_report(which, of_report, SECTIONS.get(name), top=2)) == expected
    changed = 0
    for figure in some(numbers, 3):
        expected = ranked(name, rows, figure, None)
        found = list(reports.run_report(which, of_report, SECTIONS.get(name), sort=figure))
        assert found == expected, figure
        changed += expected != rows
    assert changed or name == "cluster"  # its few rows are in one order by most figures


def test_sections_that_are_read_in_slices_are_ranked_likewise(files: list[Path]) -> None:
    found = []
    for limits in (Limits(), Limits(slice_bytes=1)):
        with Catalog(open_inputs(files[1:], ReadOptions(limits=limits))) as each:
            found.append(
                list(reports.run_report(reports.report("qstat"), each, top=2, sort="depth"))
            )
    assert found[0] == found[1]
    assert found[0]


def test_the_command_and_the_library_rank_alike(files: list[Path]) -> None:
    rows = smfparse.open(files[1]).report("tasksum", top=3, sort="tasks")
    asked = ("--top", "3", "--sort", "tasks", "--format", "jsonl")
    shown = run("report", "tasksum", files[1], *asked).stdout.splitlines()
    assert [json.loads(line)["wtidccn"] for line in shown] == rows["wtidccn"].to_pylist()
    assert len(shown) == 3 * len({*rows["qmgr"].to_pylist()})


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (
            {"sort": "qqstdphh"},
            r"sort=qqstdphh: unknown name; near: qqstdphi.*--explain names all \d+",
        ),
        ({"sort": "zzzzzzzz"}, r"sort=zzzzzzzz: unknown name; it takes qqstpsid, .*, qqstosfs"),
        ({"sort": "qqstqnam"}, r"sort=qqstqnam: unknown name; near: "),
        ({"top": -1}, r"top=-1: expected a number of rows; give 1 or more, 0 for all"),
    ],
)
def test_what_cannot_be_ranked_by_is_refused(asked: Mapping[str, Any], said: str) -> None:
    with pytest.raises(RequestError, match=said):
        reports.report("qstat").values(asked)
