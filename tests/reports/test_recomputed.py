"""All figures of all reports, worked out a second time: by polars, from the decoded tables."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from smfparse import reports
from smfparse.inputs import ReadOptions, open_inputs
from smfparse.query import Catalog
from smfparse.reports import RECORDED, TOTAL, Sections, every
from smfparse.selecting import Selection
from smfparse.tables import RECORD, decoded_tables
from tests.support.generated import generate_dump
from tests.support.oracle import Oracle
from tests.support.real import FILES
from tests.support.recomputed import NOT_RECOMPUTED, RECOMPUTED
from tests.support.recomputed.parts import (
    TASK_TABLES,
    Frames,
    Tables,
    check,
    check_intervals,
    intervals,
)
from tests.support.searching import of_many, pairs
from tests.support.small_site import write_small_site

pytestmark = pytest.mark.slow


class Site:
    """An input, or what is selected of it, read once for all reports."""

    def __init__(self, path: Path, **selected: Any) -> None:
        self.catalog = Catalog(open_inputs([path], ReadOptions(Selection.of(**selected))))
        self._every: Mapping[str, pl.DataFrame] = Frames(open_inputs([path]))
        self._frames = self._every
        if selected:
            whole = {table: self._frames[table] for table in decoded_tables()}
            self._frames = Oracle(whole).rows(**selected)
        self._of_queues = "queue" in selected
        self._tables: dict[Sections, Tables] = {}

    def tables(self, name: str, sections: Sections | None) -> Tables:
        """Return the tables in sections of a report; None: those of its declaration."""
        which = reports.report(name)
        sections = sections or Sections.of(which.section)
        if which.across:
            sections = sections.together()
        if sections not in self._tables:
            every = Tables(self._every, sections)
            self._tables[sections] = Tables(self._frames, sections, self._of_queues, every)
        return self._tables[sections]

    def check(self, name: str, sections: Sections | None, **asked: Any) -> int:
        """Compare a report with its recomputation; return how many numbers were not zero."""
        which = reports.report(name)
        rows = list(reports.run_report(which, self.catalog, sections, **asked))
        tables = self.tables(name, sections)
        if which.main[0] not in (RECORD, *TASK_TABLES):
            check_intervals(intervals(tables, which.main), rows, tables.keys)
        return check(RECOMPUTED[name](name, tables, **asked), rows, tables.keys)


@pytest.fixture(scope="module")
def small_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_small_site(tmp_path_factory.mktemp("small") / "small.smf")


@pytest.fixture(scope="module")
def small(small_path: Path) -> Iterator[Site]:
    site = Site(small_path)
    assert not site.catalog.arrow("SELECT * FROM damage").num_rows
    yield site
    site.catalog.close()


@cache
def site_of(path: Path) -> Site:
    return Site(path)


def every_kind(name: str, *more: Sections) -> set[Sections]:
    """Return the sections that a report declares, and others; those of all queue managers once."""
    which = reports.report(name)
    found = {Sections.of(which.section), *more}
    return {each.together() for each in found} if which.across else found


KINDS = (RECORDED, TOTAL, every("30m"))


@pytest.mark.parametrize(
    ("name", "sections"),
    [(name, each) for name in RECOMPUTED for each in sorted(every_kind(name, *KINDS), key=str)],
    ids=str,
)
def test_figures_of_a_site_of_small_numbers_are_those_of_polars(
    small: Site, name: str, sections: Sections
) -> None:
    assert small.check(name, sections) > 0


OPTIONS = [
    *(("api-cost", {"by": [each]}) for each in reports.report("api-cost").choices["by"]),
    ("api-cost", {"by": ["connection-type", "user", "hour"]}),
    ("api-cost", {"by": ["job", "queue"], "top": 7}),
    ("api-cost", {"by": ["system", "channel"], "top": 2, "sort": "elapsed"}),
    *(("smf-volume", {"by": [each]}) for each in reports.report("smf-volume").choices["by"]),
    ("smf-volume", {"by": ["job", "hour"], "acctime": "1", "statime": "0.30"}),
    ("smf-volume", {"acctime": "-1", "statime": "25"}),
    ("smf-volume", {"acctime": "0", "smf_interval": "15", "by": ["system"]}),
    ("smf-volume", {"acctime": "-1"}),
    ("streaming", {"stream": ["LQ2=LQ3", "LQ0=LQ4"]}),
]


@pytest.mark.parametrize(("name", "asked"), OPTIONS, ids=str)
def test_figures_that_are_asked_for_in_another_way_are_those_of_polars(
    small: Site, name: str, asked: dict[str, Any]
) -> None:
    assert small.check(name, None, **asked) > 0


SELECTIONS: list[dict[str, list[str]]] = [
    {"queue": ["LQ1"]},
    {"queue": ["SQ*", "DYN.*"]},
    {"job": ["JOBA"]},
    {"channel": ["CHL1"]},
    {"job": ["MOVER", "JOBB"], "queue": ["LQ2", "ALIAS"]},
]
SELECTED = [
    *("api-cost", "class1", "dchs", "dchssum", "qall", "qgets", "qputs", "qstat", "qsum", "task"),
    *("tasksum", "smf-volume", "streaming"),
]
"""Reports that are about jobs, queues or channels."""


@pytest.fixture(scope="module")
def selected(request: pytest.FixtureRequest, small_path: Path) -> Iterator[Site]:
    site = Site(small_path, **request.param)
    yield site
    site.catalog.close()


@of_many("name, selected", pairs(SELECTED, SELECTIONS), indirect=["selected"], ids=str)
def test_figures_of_what_is_selected_are_those_of_polars(name: str, selected: Site) -> None:
    selected.check(name, None)


@of_many("name, path", pairs([*RECOMPUTED], FILES), ids=lambda value: getattr(value, "name", value))
def test_figures_of_every_file_are_those_of_polars(name: str, path: Path) -> None:
    site_of(path).check(name, None)


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Four intervals of two queue managers, over midnight."""
    path = tmp_path_factory.mktemp("generated") / "generated.smf"
    generate_dump(
        path, start=dt.datetime(2026, 3, 4, 22, 50, 7), utc_offset=dt.timedelta(hours=2),
        interval=dt.timedelta(minutes=20), version="9.4.0", seed=5, tasks=20, count=4,
    )  # fmt: skip
    site = Site(path)
    yield site
    site.catalog.close()


@pytest.mark.parametrize("name", RECOMPUTED)
def test_figures_of_generated_hours_are_those_of_polars(generated: Site, name: str) -> None:
    assert generated.check(name, every("1h")) > 0


@pytest.mark.parametrize("name", RECOMPUTED)
def test_no_figure_is_left_out(small: Site, name: str) -> None:
    choices = reports.report(name).choices.get("by", ())
    tables = small.tables(name, None)
    ways = [{}, {"by": choices}] if choices else [{}]
    parts = [part for asked in ways for part in RECOMPUTED[name](name, tables, **asked)]
    held = {figure for part in parts for figure in (*part.frame.columns, *part.where)}
    left = {each.name for each in reports.report(name).figures} - held
    assert left == NOT_RECOMPUTED.get(name, frozenset())
