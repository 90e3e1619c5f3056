"""The text of reports: templates, and lines that are wider than there is room."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smfparse.advice.answering import answered_rows
from smfparse.errors import InputError
from smfparse.inputs.opening import open_inputs
from smfparse.query.catalog import Catalog
from smfparse.reports import templates
from smfparse.reports.declaration import Figure, Report, report, report_names
from smfparse.reports.printing import ReportDocument
from smfparse.reports.running import run_report
from smfparse.reports.templates import folded
from tests.support.command import run
from tests.support.paths import FIXTURE_FILES, FIXTURES, SMF
from tests.support.searching import of_many, pairs, search, some

LOG = report("log")


@pytest.fixture(scope="module")
def catalog() -> Iterator[Catalog]:
    with Catalog(open_inputs([SMF])) as opened:
        yield opened


def rows_of(which: Report, catalog: Catalog) -> list[templates.Row]:
    return list(run_report(which, catalog))


@pytest.mark.parametrize("count", [0, 1, templates._AT_ONCE, templates._AT_ONCE + 1])
def test_the_lines_of_rows_in_front_of_an_error_are_there(count: int, catalog: Catalog) -> None:
    row = rows_of(LOG, catalog)[0]

    def rows() -> Iterator[templates.Row]:
        yield from [row] * count
        raise InputError("no more")

    found: list[str] = []
    with pytest.raises(InputError, match="no more"):
        found.extend(templates.text(LOG, rows()))
    whole = list(templates.text(LOG, [row] * count))
    assert found == (whole if count else whole[:-1])


@pytest.mark.parametrize(
    ("template", "row", "line"),
    [
        ("{a:>6}|", {"a": 5}, "     5|"),
        ("{a:6}|", {"a": 5}, "5     |"),
        ("{a:<6}|", {"a": 5}, "5     |"),
        ("{a:^5}|", {"a": 5}, "  5  |"),
        ("{a:>6}|", {"a": None}, "     -|"),
        ("{b:>6}|", {"b": 5}, "     5 MB|"),
        ("{b:>6}|", {"b": None}, "     -|"),
        ("100% {a}% {{x}} %s", {"a": 5}, "100% 5% {x} %s"),
        ("{?a}{a:>2}", {"a": 0}, None),
        ("{?a}{?b}{a:>2}", {"a": 1, "b": 1}, " 1"),
        ("{?*}{a} {b} {c}", {"a": 0, "b": None, "c": "POOL"}, None),
        ("{?*}{a} {b} {c}", {"a": 0, "b": 2, "c": "POOL"}, "0 2 MB POOL"),
        ("{?*}{?a}{a} {b}", {"a": 0, "b": 2}, None),
        ("{qmgr:>5}{system:6}|", {"qmgr": "QM01", "system": None}, " QM01-     |"),
    ],
)
def test_a_line_of_a_template(template: str, row: dict[str, Any], line: str | None) -> None:
    figures = (
        Figure("a", "A", "count", "A"),
        Figure("b", "B", "count", "B", suffix=" MB"),
        Figure("c", "C", "text", "C"),
    )
    which = replace(LOG, figures=figures, text={"": template}, blocks={})
    assert templates.Printer(which, ()).lines([row])[0] == ([] if line is None else [line])


def test_a_section_of_zeros_says_so_and_shows_them_where_they_are_asked_for(
    catalog: Catalog,
) -> None:
    msgm = report("msgm")
    row = rows_of(msgm, catalog)[0]
    which = replace(msgm, text={"": "{?*}Opens {qmstopen}\n{?qmstget}Gets {qmstget}"})
    empty, none = ({**row, "qmstopen": value, "qmstget": value} for value in (0, None))
    full = {**empty, "section": "another", "qmstget": 5}
    zero = "All values are 0 or absent."

    def shown(*rows: dict[str, Any], zeros: bool = False) -> list[str]:
        lines = templates.text(which, rows, zeros=zeros)
        return [line for line in lines if not line.startswith((row["system"], "From"))]

    assert shown(empty) == shown(none) == shown(none, zeros=True) == [zero]
    assert shown(empty, full) == [zero, "", "Gets 5"]
    assert shown(full, empty) == ["Gets 5", "", zero]
    assert shown(full, empty, zeros=True) == ["Opens 0", "Gets 5", "", "Opens 0", "Gets 0"]


# Lines that are wider than there is room ---------------------------------------------------------

WIDE = 132


@search(60)
@given(
    words=st.lists(st.text("ab ", min_size=1, max_size=30), max_size=12),
    starts=st.sets(st.integers(1, 200)),
    width=st.integers(40, 90),
)
def test_a_folded_line_fits_and_loses_nothing(words: list[str], starts: set[int], width: int):
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


NAMES = [each for each in report_names() if not report(each).required]
SHOWN = some(pairs(NAMES, FIXTURE_FILES), 5)


@pytest.mark.slow
@of_many("path", sorted({path for _, path in SHOWN}), ids=lambda path: path.stem)
def test_every_report_fits(path: Path) -> None:
    """All that a report says is there, in lines of 132 characters, whatever it says."""
    with Catalog(open_inputs([path])) as catalog:
        for name in (name for name, each in SHOWN if each == path):
            which = report(name)
            rows = [*answered_rows(which, catalog)]
            both = (ReportDocument(which, rows, {}, width) for width in (None, WIDE))
            whole, narrow = ([*each.printed()] for each in both)
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
