"""Reports with many options, asked for at random: figures are those of another computation."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smfparse import reports
from smfparse.inputs import ReadOptions, open_inputs
from smfparse.query import Catalog
from smfparse.reports import TOTAL, Sections, every
from smfparse.selecting import Selection
from smfparse.tables import decoded_tables
from tests.support.corpora import Corpora
from tests.support.goldens import SELECTIONS
from tests.support.oracle import Oracle
from tests.support.real import FILES
from tests.support.recomputed import RECOMPUTED
from tests.support.recomputed.parts import Frames, Tables, check
from tests.support.searching import of_many, pairs, search

pytestmark = pytest.mark.slow


class Site:
    """An input, or what is selected of it, read once."""

    def __init__(self, path: Path, **selected: Any) -> None:
        self.catalog = Catalog(open_inputs([path], ReadOptions(Selection.of(**selected))))
        self._frames: Mapping[str, pl.DataFrame] = Frames(open_inputs([path]))
        if selected:
            whole = {table: self._frames[table] for table in decoded_tables()}
            self._frames = Oracle(whole).rows(**selected)
        self._of_queues = "queue" in selected

    def check(self, name: str, sections: Sections | None, **asked: Any) -> int:
        """Compare a report with its recomputation; return how many numbers were not zero."""
        which = reports.report(name)
        rows = list(reports.run_report(which, self.catalog, sections, **asked))
        together = (sections or Sections.of(which.section)).together()
        tables = Tables(self._frames, together, self._of_queues)
        return check(RECOMPUTED[name](name, tables, **asked), rows, tables.keys)


@cache
def site_of(path: Path, selection: int | None = None) -> Site:
    return Site(path, **({} if selection is None else SELECTIONS[selection]))


def some_of(name: str, option: str) -> st.SearchStrategy[list[str]]:
    choices = reports.report(name).choices[option]
    return st.lists(st.sampled_from(choices), min_size=1, max_size=3, unique=True)


INTERVALS = st.sampled_from(["0.30", "1", "25", "60"])
ASKED = {
    "api-cost": st.fixed_dictionaries(
        {},
        optional={
            "by": some_of("api-cost", "by"),
            "top": st.integers(1, 9),
            "sort": st.sampled_from(["cpu", "elapsed"]),
        },
    ),
    "smf-volume": st.fixed_dictionaries(
        {"smf_interval": INTERVALS},
        optional={
            "by": some_of("smf-volume", "by"),
            "acctime": INTERVALS | st.sampled_from(["-1", "0"]),
            "statime": INTERVALS | st.just("0"),
        },
    ),
}
"""Options that each report can have."""


@pytest.mark.parametrize("name", RECOMPUTED)
def test_figures_are_those_of_another_computation(name: str, corpora: Corpora) -> None:
    (path,) = corpora["site"].paths
    sections = st.sampled_from([None, TOTAL, every("30m")])
    selections = st.none() | st.integers(0, len(SELECTIONS) - 1)
    assert site_of(path).check(name, None) > 0

    @search(6)
    @given(asked=ASKED[name], sections=sections, selection=selections)
    def compare(asked: dict[str, Any], sections: Sections | None, selection: int | None) -> None:
        site_of(path, selection).check(name, sections, **asked)

    compare()


@of_many("name, path", pairs([*RECOMPUTED], FILES), ids=lambda value: getattr(value, "name", value))
def test_figures_of_every_file_are_those_of_another_computation(name: str, path: Path) -> None:
    site_of(path).check(name, None)
