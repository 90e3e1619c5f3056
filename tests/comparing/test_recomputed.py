"""What compare divides by what, worked out a second time from the decoded tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from smfparse.comparing import NAMES, Rename, Side, compared, measured
from smfparse.inputs import ReadOptions, open_inputs
from smfparse.reports import TOTAL
from tests.support.recomputed.comparison import Figures, figures, without_stubs
from tests.support.recomputed.parts import Frames, Tables
from tests.support.small_site import QMGRS, write_small_site

pytestmark = pytest.mark.slow

SIDE_TABLES = ("wtas", "wtid", "wqst", "qjst", "qjst_io", "qmst", "qpst", "qest")
CASES: list[tuple[Sequence[str], list[str]]] = [
    (NAMES, []),
    (["job"], []),
    (["qmgr", "verb"], []),
    (NAMES, ["MQ02=MQ09", "LQ%=XX%", "JOBA=JOBB", "DYN%=DYN.OTHER"]),
    (["qmgr", "job"], ["MQ0%=QM%", "JOB%=%"]),
]
"""Columns that rows are told apart by, and names that differ."""


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Side, Tables]]:
    """Two sites of small numbers, whose queue managers have names of their own."""
    folder = tmp_path_factory.mktemp("sides")
    found = []
    for seed in (2, 3):
        path: Path = write_small_site(folder / f"{seed}.smf", seed, QMGRS[1:])
        side = measured(open_inputs([path], ReadOptions(jobs=1)))
        frames = without_stubs(Frames(open_inputs([path])), SIDE_TABLES)
        found.append((side, Tables(frames, TOTAL)))
    return found


@pytest.mark.parametrize(("by", "renames"), CASES, ids=str)
def test_figures_of_both_sides_are_sums_over_sums(
    sides: list[tuple[Side, Tables]], by: Sequence[str], renames: list[str]
) -> None:
    (before, first), (after, second) = sides
    rows = compared(before, after, by, [Rename.of(each) for each in renames])
    for which, wanted in (
        ("before", figures(first, by, renames)),
        ("after", figures(second, by)),
    ):
        found: Figures = {
            tuple(row[:5]): row[5]
            for row in rows.select(*NAMES, "figure", which).iter_rows()
            if row[5] and ("verb" in by or "wait_per" not in row[4])
            if "verb" in by or not row[4].startswith("suspended")
        }
        assert found.keys() == wanted.keys()
        for key, value in wanted.items():
            assert found[key] == pytest.approx(value, rel=1e-9), (which, key)
