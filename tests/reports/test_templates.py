"""Templates of the text of reports."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import replace
from string import Formatter
from typing import Any

import pytest

from smfparse import reports
from smfparse.errors import InputError
from smfparse.inputs import open_inputs
from smfparse.query import Catalog
from smfparse.rendering import STYLES
from smfparse.reports import templates
from tests.support.paths import SMF


@pytest.mark.parametrize("count", [0, 1, templates._AT_ONCE, templates._AT_ONCE + 1])
def test_the_lines_of_rows_in_front_of_an_error_are_there(count: int) -> None:
    with Catalog(open_inputs([SMF])) as catalog:
        row = next(iter(reports.run_report(reports.report("log"), catalog)))

    def rows() -> Iterator[templates.Row]:
        yield from [row] * count
        raise InputError("no more")

    found: list[str] = []
    with pytest.raises(InputError, match="no more"):
        found.extend(templates.text(reports.report("log"), rows()))
    whole = list(templates.text(reports.report("log"), [row] * count))
    assert found == (whole if count else whole[:-1])


def test_templates_are_taken_apart_once_however_many_rows_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parsed: list[str] = []

    class Counting(Formatter):
        def parse(self, format_string: str) -> Any:
            parsed.append(format_string)
            return super().parse(format_string)

    with Catalog(open_inputs([SMF])) as catalog:
        rows = list(reports.run_report(reports.report("log"), catalog))
    monkeypatch.setattr(templates, "Formatter", Counting)
    counts = []
    for times in (1, 50):
        parsed.clear()
        assert list(templates.text(reports.report("log"), rows * times))
        counts.append(len(parsed))
    assert counts[0] == counts[1] > 0


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
        reports.Figure("a", "A", "count", "A"),
        reports.Figure("b", "B", "count", "B", suffix=" MB"),
        reports.Figure("c", "C", "text", "C"),
    )
    which = replace(reports.report("log"), figures=figures, text={"": template}, blocks={})
    found = templates.Printer(which, ()).lines([row])[0]
    assert found == ([] if line is None else [line])


def test_a_section_of_zeros_says_so_and_shows_them_where_they_are_asked_for() -> None:
    with Catalog(open_inputs([SMF])) as catalog:
        row = next(iter(reports.run_report(reports.report("msgm"), catalog)))
    which = replace(
        reports.report("msgm"), text={"": "{?*}Opens {qmstopen}\n{?qmstget}Gets {qmstget}"}
    )
    empty, none = ({**row, "qmstopen": value, "qmstget": value} for value in (0, None))
    full = {**empty, "section": "another", "qmstget": 5}
    zero = "All figures are 0 or absent."

    def shown(*rows: dict[str, Any], zeros: bool = False) -> list[str]:
        lines = templates.text(which, rows, zeros=zeros)
        return [line for line in lines if not line.startswith((row["system"], "From"))]

    assert shown(empty) == shown(none) == shown(none, zeros=True) == [zero]
    assert shown(empty, full) == [zero, "", "Gets 5"]
    assert shown(full, empty) == ["Gets 5", "", zero]
    assert shown(full, empty, zeros=True) == ["Opens 0", "Gets 5", "", "Opens 0", "Gets 0"]


@pytest.mark.parametrize(
    ("style", "format_"),
    [
        ("hour", "%Y/%m/%d,%H:%M"),
        ("second", "%Y/%m/%d,%H:%M:%S"),
        ("instant", "%Y/%m/%d,%H:%M:%S.%f"),
    ],
)
@pytest.mark.parametrize("zone", [None, dt.UTC, dt.timezone(dt.timedelta(hours=-5))])
def test_moments_are_shown_as_their_format_says(
    style: str, format_: str, zone: dt.timezone | None
) -> None:
    for micro in (0, 1, 999_999):
        moment = dt.datetime(2026, 3, 4, 5, 6, 7, micro, zone)
        assert STYLES[style][0](moment) == moment.strftime(format_)
