"""--top and --sort of reports of rows: the largest first, as many of each table as asked for."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

import smfparse
from smfparse import reports
from smfparse.errors import RequestError
from smfparse.inputs import open_inputs
from smfparse.query import Catalog
from smfparse.reports import TOTAL
from smfparse.simulating import load_estate, simulate
from tests.support.command import run
from tests.support.corpora import Corpora, Corpus, of_corpora
from tests.support.searching import of_many, some

pytestmark = pytest.mark.slow

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
SCENARIOS = {"cluster": "cluster", "clients": "clients", "mft": "mft", "requests": "reqrep"}
"""The simulated days of reports that have too few rows of the small site."""
Rows = Sequence[Mapping[str, Any]]


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


@pytest.mark.sampled(3)
@of_many("name", some([*RANKED], 6))
def test_rows_are_ranked_by_any_figure_and_top_takes_the_largest(
    name: str, corpora: Corpora, tmp_path: Path
) -> None:
    which, sections = reports.report(name), SECTIONS.get(name)
    catalog = corpora["site"].catalog
    if name in SCENARIOS:
        path = tmp_path / "day.smf"
        simulate(path, load_estate(SCENARIOS[name], interval=dt.timedelta(hours=12)))
        catalog = Catalog(open_inputs([path]))

    def made(**asked: Any) -> Rows:
        return list(reports.run_report(which, catalog, sections, **asked))

    rows, choices = made(), which.choices["sort"]
    assert len(rows) > len({str(row["section"]) for row in rows})
    assert {*choices} <= rows[0].keys()
    numbers = [each for each in choices if not any(isinstance(row[each], str) for row in rows)]
    assert made(top=1) == ranked(name, rows, RANKED[name], 1)
    for figure in some(numbers, 2):
        assert made(sort=figure) == ranked(name, rows, figure, None), figure


@of_corpora("new")
def test_the_command_and_the_library_rank_alike(corpus: Corpus) -> None:
    (path,) = corpus.paths
    rows = smfparse.open(path).report("tasksum", top=2, sort="tasks")
    asked = ("--top", "2", "--sort", "tasks", "--format", "jsonl")
    shown = run("report", "tasksum", path, *asked).stdout.splitlines()
    assert [json.loads(line)["wtidccn"] for line in shown] == rows["wtidccn"].to_pylist()
    assert len(shown) == 2 * len({*rows["qmgr"].to_pylist()})


WRONG: dict[str, Mapping[str, Any]] = {
    r"sort=qqstdphh: unknown name; near: qqstdphi.*--explain names all \d+": {"sort": "qqstdphh"},
    r"sort=zzzzzzzz: unknown name; it takes qqstpsid, .*, qqstosfs": {"sort": "zzzzzzzz"},
    r"sort=qqstqnam: unknown name; near: ": {"sort": "qqstqnam"},
    r"top=-1: expected a number of rows; give 1 or more, 0 for all": {"top": -1},
}


def test_what_cannot_be_ranked_by_is_refused() -> None:
    for said, asked in WRONG.items():
        with pytest.raises(RequestError, match=said):
            reports.report("qstat").values(asked)
