"""Lines of reports that are wider than there is room."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smfparse import advice, reports
from smfparse.inputs import open_inputs
from smfparse.query import Catalog
from smfparse.reports.folding import folded
from tests.support.command import run
from tests.support.paths import FIXTURE_FILES, FIXTURES
from tests.support.searching import of_many, pairs, search, some

WIDE = 132


@search(60)
@given(
    words=st.lists(st.text("ab ", min_size=1, max_size=30), max_size=12),
    starts=st.sets(st.integers(1, 200)),
    width=st.integers(40, 90),
)
def test_a_folded_line_fits_and_loses_nothing(
    words: list[str], starts: set[int], width: int
) -> None:
    text = " ".join(words).rstrip()
    pieces = [*folded(text, sorted(starts), width)]
    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert all(len(piece) <= width for piece in pieces)
    assert [*folded(text, sorted(starts), None)] == [text]


def test_rows_are_cut_at_the_columns_at_which_their_heading_is() -> None:
    heading = "Queue      Puts      Gets     Bytes"
    row = "A            12        13  14000000"
    starts = (0, 7, 15, 25)
    assert [*folded(heading, starts, 26)] == ["Queue      Puts      Gets", "         Bytes"]
    assert [*folded(row, starts, 26)] == ["A            12        13", "      14000000"]
    overflowing = "A LONG NAME  12        13  14000000"
    assert next(folded(overflowing, starts, 26)) == "A LONG NAME  12        13"
    assert [*folded("x" * 50, (), 40)] == ["x" * 40, " " * 6 + "x" * 10]


NAMES = [each for each in reports.report_names() if not reports.report(each).required]
SHOWN = some(pairs(NAMES, FIXTURE_FILES), 4)


@pytest.mark.slow
@of_many("path", sorted({path for _, path in SHOWN}), ids=lambda path: path.stem)
def test_every_report_fits(path: Path) -> None:
    """All that a report says is there, in lines of 132 characters, whatever it says."""
    with Catalog(open_inputs([path])) as catalog:
        for name in (name for name, each in SHOWN if each == path):
            which = reports.report(name)
            rows = [*advice.answered_rows(which, catalog)]
            whole, narrow = (
                [*reports.ReportDocument(which, rows, {}, width).printed()]
                for width in (None, WIDE)
            )
            assert max(map(len, narrow), default=0) <= WIDE, name
            assert "".join("".join(narrow).split()) == "".join("".join(whole).split()), name
            assert all(line in narrow for line in whole if len(line) <= WIDE), name


def test_only_who_asks_for_it_gets_folded_lines() -> None:
    command = ("report", "tasksum", str(FIXTURES / "qm01-930.smf"))
    whole, narrow = run(*command).stdout, run(*command, "--width", "100").stdout
    assert max(map(len, whole.splitlines())) > WIDE
    assert max(map(len, narrow.splitlines())) <= 100
    assert whole.split() == narrow.split()
    assert run(*command, "--width", "20").exit_code == 2
