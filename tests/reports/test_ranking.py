"""--top and --sort of reports of rows: the largest first, as many of each section as asked for."""

from __future__ import annotations

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
from tests.support.command import run
from tests.support.generated import generate_dump
from tests.support.searching import some
from tests.support.small_site import write_small_site

RANKED = {
    name: each.ranked for name in reports.report_names() if (each := reports.report(name)).ranked
}
SECTIONS = {"class1": TOTAL}
"""What makes sections where those of the report have a row each."""
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


def ranked(rows: Rows, figure: str, top: int | None) -> Rows:
    """The rows of each section by a figure, the largest first; what has none is last."""
    found: list[Mapping[str, Any]] = []
    for _, several in groupby(rows, lambda row: str(row["section"])):
        by_size = sorted(several, key=lambda row: (row[figure] is None, -(row[figure] or 0)))
        found += by_size[:top]
    return found


@pytest.mark.fuzz
@pytest.mark.parametrize("name", RANKED)
def test_rows_are_ranked_by_any_figure(name: str, catalog: Catalog) -> None:
    which = reports.report(name)
    rows = list(reports.run_report(which, catalog, SECTIONS.get(name)))
    assert len(rows) > len({str(row["section"]) for row in rows})
    assert {*which.choices["sort"]} <= rows[0].keys()
    numbers = [
        each
        for each in which.choices["sort"]
        if not any(isinstance(row[each], str) for row in rows)
    ]
    changed = 0
    for figure in some(numbers, 4):
        expected = ranked(rows, figure, None)
        found = list(reports.run_report(which, catalog, SECTIONS.get(name), sort=figure))
        assert found == expected, figure
        changed += expected != rows
    assert changed


@pytest.mark.parametrize("name", RANKED)
@pytest.mark.parametrize("top", [1, 2])
def test_top_takes_the_largest_of_each_section(name: str, top: int, catalog: Catalog) -> None:
    which = reports.report(name)
    sections = SECTIONS.get(name)
    rows = list(reports.run_report(which, catalog, sections))
    expected = ranked(rows, RANKED[name], top)
    assert list(reports.run_report(which, catalog, sections, top=top)) == expected


def test_sections_that_are_read_in_slices_are_ranked_likewise(
    files: list[Path], catalog: Catalog
) -> None:
    which = reports.report("qstat")
    expected = list(reports.run_report(which, catalog, top=2, sort="depth"))
    options = ReadOptions(limits=Limits(slice_bytes=1))
    with Catalog(open_inputs(files, options)) as sliced:
        assert list(reports.run_report(which, sliced, top=2, sort="depth")) == expected


def test_the_command_and_the_library_rank_alike(files: list[Path]) -> None:
    rows = smfparse.open(files[1]).report("tasksum", top=3, sort="tasks")
    asked = ("--top", "3", "--sort", "tasks", "--format", "jsonl")
    shown = run("report", "tasksum", files[1], *asked).stdout.splitlines()
    assert [json.loads(line)["wtidccn"] for line in shown] == rows["wtidccn"].to_pylist()
    assert len(shown) == 3 * len({*rows["qmgr"].to_pylist()})


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"sort": "qqstdphh"}, r"sort=qqstdphh: unknown name; near: qqstdphi"),
        ({"sort": "zzzzzzzz"}, r"sort=zzzzzzzz: unknown name; --explain names the figures"),
        ({"sort": "qqstqnam"}, r"sort=qqstqnam: unknown name; near: "),
        ({"top": -1}, r"top=-1: expected a number of rows; give 1 or more, 0 for all"),
    ],
)
def test_what_cannot_be_ranked_by_is_refused(asked: Mapping[str, Any], said: str) -> None:
    with pytest.raises(RequestError, match=said):
        reports.report("qstat").values(asked)
