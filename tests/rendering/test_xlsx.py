"""Workbooks: values of their kinds, no formulas, valid sheets, and what does not fit is told."""

from __future__ import annotations

import csv
import datetime as dt
import io
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smfparse.errors import OutputError, SmfError
from smfparse.rendering import xlsx
from smfparse.rendering.document import Document, Values
from smfparse.rendering.figures import visible
from smfparse.rendering.xlsx import write_workbook
from smfparse.reports.declaration import report, report_names
from tests.support.command import run
from tests.support.generated import generate_dump
from tests.support.paths import SMF
from tests.support.report_runs import asking
from tests.support.searching import of_many, search, some
from tests.support.traffic import AGENTS, PAIR
from tests.support.workbooks import made, read_book, sheets

pytestmark = pytest.mark.slow
HOSTILE = ["=1+1", "@SUM(A1)", "http://a.b", "mailto:a@b", "internal:A1", "12", "_x0041_", "{=1}"]
TEXTS = st.one_of(st.sampled_from(HOSTILE), st.text(min_size=1, max_size=8))


class Tables(Document):
    def __init__(self, *tables: Values) -> None:
        self.found = tables

    def tables(self) -> Iterator[Values]:
        yield from self.found


def table(rows: Sequence[Sequence[Any]], *styles: str, name: str = "one") -> Values:
    return Values(name, [(f"c{number}", style) for number, style in enumerate(styles)], rows)


def one(rows: Sequence[Sequence[Any]], *styles: str) -> list[tuple[Any, ...]]:
    """Return the rows of a sheet below its headings."""
    found, _ = made([Tables(table(rows, *styles))])
    ((_, *written),) = found.values()
    return written


@search(25)
@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4), TEXTS)
def test_texts_stay_the_texts_that_they_are(rows: list[tuple[str, str]], heading: str) -> None:
    """Excel reads _x005F_ as the _ of what would be a number of Excel's."""
    found, _ = made([Tables(Values("t", [(heading, ""), ("b", "")], rows))])
    wanted = [(visible(heading), "b"), *(tuple(map(visible, row)) for row in rows)]
    assert [tuple(each.replace("_x005F_", "_") for each in row) for row in found["t"]] == wanted


def test_values_are_of_their_kinds_and_shown_in_their_styles() -> None:
    moment = dt.datetime(2026, 3, 4, 9, 16, 20, 491000)
    shown = [
        ("count", 1234, 1234, "0"),
        ("grouped", 1234.9, 1234, "#,##0"),
        ("decimal", 0.12345, 0.12345, "0.000"),
        ("percent", 12.5, 12.5, "0.00"),
        ("instant", moment, moment, "yyyy-mm-dd hh:mm:ss.000"),
        ("date", moment.date(), dt.datetime(2026, 3, 4), "yyyy-mm-dd"),
        ("", moment.time(), moment.time(), "hh:mm:ss"),
        ("flag", True, True, "General"),
        ("text", "x", "x", "General"),
        ("", None, None, "General"),
    ]
    styles, row, *_ = zip(*shown, strict=True)
    file = io.BytesIO()
    write_workbook([Tables(table([row], *styles))], file)
    sheet = read_book(file.getvalue()).active
    cells = [(cell.value, cell.number_format) for cell in sheet[2]]
    assert cells == [tuple(each[2:]) for each in shown]
    assert (sheet.freeze_panes, sheet.auto_filter.ref) == ("A2", "A1:J2")


def test_what_excel_has_no_value_for_is_a_text() -> None:
    early = dt.datetime(1899, 12, 31, 10)
    rows = [(2**64 - 1, float("inf"), early), (10**15 - 1, float("nan"), dt.datetime(2000, 1, 1))]
    assert one(rows, "count", "", "") == [
        ("18446744073709551615", "inf", "1899-12-31 10:00:00"),
        (10**15 - 1, "nan", dt.datetime(2000, 1, 1)),
    ]


def test_rows_that_a_sheet_does_not_hold_are_on_the_next_and_told(monkeypatch: pytest.MonkeyPatch):
    assert xlsx._MOST_ROWS == 1_048_576
    monkeypatch.setattr(xlsx, "_MOST_ROWS", 4)
    for count, wanted in ((0, [0]), (3, [3]), (4, [3, 1]), (7, [3, 3, 1])):
        found, messages = made([Tables(table([(each,) for each in range(count)], "", name="task"))])
        assert [len(rows) - 1 for rows in found.values()] == wanted
        assert [row[0] for rows in found.values() for row in rows[1:]] == [*range(count)]
        assert all(rows[0] == ("c0",) for rows in found.values())
        assert [*found] == ["task", "task (2)", "task (3)"][: len(wanted)]
        told = f"task: the rows are on {len(wanted)} sheets, because an Excel sheet has at most 4"
        assert messages == ([told] if len(wanted) > 1 else [])


def test_what_does_not_fit_is_cut_and_told_or_refused() -> None:
    found, messages = made([Tables(table([("x" * 40_000,), ("y" * 32_767,)], ""))])
    assert [len(row[0]) for row in found["one"][1:]] == [32_767, 32_767]
    (told,) = messages
    assert told == "one: 1 texts were truncated after 32,767 characters, the limit of an Excel cell"
    with pytest.raises(OutputError, match="16,385 columns"):
        made([Tables(table([], *[""] * 16_385))])


def test_names_of_sheets_are_such_that_excel_takes_them() -> None:
    @search(50)
    @given(st.lists(st.one_of(TEXTS, st.sampled_from(["", "History", "a/b", "'x'", "q" * 40]))))
    def check(names: list[str]) -> None:
        taken = {"history"}
        found = [xlsx.sheet_name(name, taken) for name in names]
        assert len({each.lower() for each in found}) == len(found)
        for each in found:
            assert 1 <= len(each.encode("utf-16-le")) // 2 <= 31
            assert not re.search(r"[\[\]:*?/\\]|^'|'$", each)
            assert each.strip() == each
            assert each.lower() != "history"

    check()
    assert xlsx.sheet_name("log", set()) == "log"
    assert xlsx.sheet_name("LOG", {"log"}) == "LOG (2)"


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All kinds of records of a system that is not at UTC."""
    path = tmp_path_factory.mktemp("xlsx") / "dump.smf"
    east = dt.timedelta(hours=5, minutes=30)
    generate_dump(path, version="10.0.0", utc_offset=east, count=1, tasks=2)
    path.write_bytes(path.read_bytes() + b"".join([*PAIR, *AGENTS]))
    return path


def like(text: str, value: Any) -> bool:
    """Whether a cell has what CSV has: numbers to the decimals that CSV shows."""
    if value is None:
        return text == ""
    if isinstance(value, bool):
        return text in (("Yes", "True") if value else ("No", "False"))
    if isinstance(value, int | float):
        _, _, decimals = text.partition(".")
        return abs(float(text) - value) <= 0.5000001 * 10.0 ** -len(decimals) + 1e-14 * abs(value)
    if isinstance(value, dt.datetime):
        form = "%Y-%m-%d %H:%M:%S.%f" if len(text) > 10 else "%Y-%m-%d"
        return abs(dt.datetime.strptime(text, form) - value) <= dt.timedelta(milliseconds=1)
    if isinstance(value, dt.time):
        return text == value.isoformat()
    return bool(text.removeprefix("'") == value.removeprefix("'"))


@of_many("name", some(report_names(), 4))
def test_a_report_has_the_figures_of_its_csv(name: str, dump: Path, tmp_path: Path) -> None:
    command = ["report", name, dump, *asking(report(name))]
    book = tmp_path / "book.xlsx"
    assert run(*command, "--format", "xlsx", "--output", book).exit_code == 0
    ((sheet, rows),) = sheets(book).items()
    assert sheet == name
    told = csv.reader(run(*command, "--format", "csv").stdout.splitlines())
    for line, row in zip(told, rows, strict=True):
        assert all(map(like, line, row)), (line, row)
        assert len(line) == len(row)
    assert any(isinstance(value, dt.datetime) for row in rows for value in row)
    assert any(isinstance(value, int | float) for row in rows for value in row)


def test_each_result_of_sql_has_a_sheet() -> None:
    query = "SELECT 1 AS a, '=1+1' AS b; SELECT TIMESTAMPTZ '2026-03-04 09:00Z' AS t WHERE FALSE"
    assert sheets(run("sql", SMF, query, "--format", "xlsx", code=0).stdout_bytes) == {
        "Query results": [("a", "b"), (1, "=1+1")],
        "Query results (2)": [("t",)],
    }


def test_without_the_library_the_way_out_is_shown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setitem(sys.modules, "xlsxwriter", None)
    done = run("report", "log", SMF, "--format", "xlsx", "--output", tmp_path / "x.xlsx", code=2)
    assert f"{sys.executable} -m pip install XlsxWriter" in done.stderr
    assert not list(tmp_path.iterdir())


def test_nothing_is_left_of_an_unfinished_workbook(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    def rows() -> Iterator[tuple[int]]:
        yield (1,)
        raise SmfError("the input ends")

    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    broken = Tables(Values("one", [("a", "")], rows()))
    with pytest.raises(SmfError, match="the input ends"):
        write_workbook([broken], io.BytesIO())
    assert not list(tmp_path.iterdir())
