"""All figures of all reports, worked out a second time: by polars, from the decoded tables."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from smfparse import reports
from smfparse.inputs import open_inputs
from smfparse.query import Catalog
from smfparse.reports import RECORDED, TOTAL, Sections, every
from tests.support.real import every_file
from tests.support.recomputed import NOT_RECOMPUTED, RECOMPUTED
from tests.support.recomputed.parts import Frames, Tables, check
from tests.support.small_site import write_small_site

pytestmark = pytest.mark.slow


class Site:
    """An input, read once for all reports."""

    def __init__(self, path: Path) -> None:
        self.inputs = open_inputs([path])
        self.catalog = Catalog(self.inputs)
        self._frames = Frames(self.inputs)
        self._tables: dict[Sections, Tables] = {}

    def tables(self, name: str, sections: Sections | None) -> Tables:
        """Return the tables in sections of a report; None: those of its declaration."""
        which = reports.report(name)
        sections = sections or Sections.of(which.section)
        if which.across:
            sections = sections.together()
        if sections not in self._tables:
            self._tables[sections] = Tables(self._frames, sections)
        return self._tables[sections]

    def check(self, name: str, sections: Sections | None) -> int:
        """Compare a report with its recomputation; return how many numbers were not zero."""
        rows = list(reports.run_report(reports.report(name), self.catalog, sections))
        tables = self.tables(name, sections)
        return check(RECOMPUTED[name](name, tables), rows, tables.keys)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    site = Site(write_small_site(tmp_path_factory.mktemp("small") / "small.smf"))
    yield site
    site.catalog.close()


@cache
def site_of(path: Path) -> Site:
    return Site(path)


@pytest.mark.parametrize("sections", [None, RECORDED, TOTAL, every("30m")], ids=str)
@pytest.mark.parametrize("name", RECOMPUTED)
def test_figures_of_a_site_of_small_numbers_are_those_of_polars(
    small: Site, name: str, sections: Sections | None
) -> None:
    assert small.check(name, sections) > 0


@every_file
@pytest.mark.parametrize("name", RECOMPUTED)
def test_figures_of_every_file_are_those_of_polars(path: Path, name: str) -> None:
    for sections in (None, TOTAL):
        site_of(path).check(name, sections)


@pytest.mark.parametrize("name", RECOMPUTED)
def test_no_figure_is_left_out(small: Site, name: str) -> None:
    parts = RECOMPUTED[name](name, small.tables(name, None))
    held = {figure for part in parts for figure in (*part.frame.columns, *part.where)}
    left = {each.name for each in reports.report(name).figures} - held
    assert left == NOT_RECOMPUTED.get(name, frozenset())
