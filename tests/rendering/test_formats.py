"""Every result in every format: cells come back as they were, whatever they hold."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smfparse.rendering.document import Column, Document, Facts, Section, Table
from smfparse.rendering.figures import visible
from smfparse.rendering.formats import FORMATS, lines
from smfparse.rendering.rows import RowsDocument
from tests.support.command import printed
from tests.support.paths import FIXTURES
from tests.support.searching import of_many, search, some

pytestmark = pytest.mark.slow
DUMP = str(FIXTURES / "qm80.smf")
HOSTILE = ["<script>alert(1)</script>", "a|b", "\\|", "\\", "'\"&amp;", "*x*_y_`z`", "=1", "[a](b)"]
TEXTS = st.sampled_from(HOSTILE) | st.text(max_size=8) | st.text("|\\<>&\"'`*_ \n\t", max_size=6)
ROWS = st.lists(st.tuples(TEXTS, TEXTS), max_size=4)


class Titled(Document):
    """A table in a section, of which all names are given."""

    def __init__(self, title: str, rows: list[tuple[str, str]]) -> None:
        self.title = title
        self.rows = rows

    def sections(self) -> Iterator[Section]:
        columns = [Column(self.title), Column("Number", right=True)]
        yield Section(self.title, [Table(columns, iter(self.rows), self.title)], [self.title])

    def facts(self) -> Iterator[Facts]:
        yield Facts({"title": self.title}, ({"a": a, "b": b} for a, b in self.rows))


Tables = list[list[list[str]]]
HEADINGS = {"title", "h1", "h2", "p", "caption"}
KNOWN_TAGS = HEADINGS | {
    *("html", "head", "meta", "style", "body", "section", "br", "div", "table", "thead", "tbody"),
    *("tr", "th", "td", "script"),
}


class Page(HTMLParser):
    """The elements of a page, each with its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[list[str]] = []
        self.open: list[list[str]] = []
        self.feed(text)
        self.close()
        assert self.open == []
        assert {tag for tag, _ in self.found} <= KNOWN_TAGS
        self.headings = [text for tag, text in self.found if tag in HEADINGS]

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found.append([tag, ""])
        if tag == "br":
            self.open[-1][1] += "\n"
        elif tag != "meta":
            self.open.append(self.found[-1])

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        if self.open:
            self.open[-1][1] += data


def from_html(text: str) -> Tables:
    assert text.startswith("<!DOCTYPE html>\n")
    assert text.count("<script") == 1
    tables: Tables = []
    for tag, cell in Page(text).found:
        if tag == "table":
            tables.append([])
        elif tag == "tr":
            tables[-1].append([])
        elif tag in ("td", "th"):
            tables[-1][-1].append(cell)
    return tables


def from_md(text: str) -> Tables:
    """Return the cells of every table, by the rules of GitHub: | ends a cell, unless escaped."""
    tables: Tables = []
    inside = False
    for line in text.split("\n"):
        if not line.startswith("|"):
            inside = False
        elif re.fullmatch(r"\|((---|--:)\|)+", line):
            assert len(line.split("|")) - 2 == len(tables[-1][0])
        else:
            if not inside:
                tables.append([])
            inside = True
            cells = re.findall(r" ((?:\\.|[^|\\])*) \|", line[1:])
            assert "|".join(["", *(f" {cell} " for cell in cells), ""]) == line
            tables[-1].append([meant(cell) for cell in cells])
    return tables


def meant(cell: str) -> str:
    """Return what a cell means; whatever is markup is escaped."""
    assert not re.search(r"(?<!\\)(?:\\\\)*[<*`\[&]", cell.replace("<br>", ""))
    return re.sub(r"\\(.)", r"\1", cell.replace("<br>", "\n"))


def from_csv(text: str) -> Tables:
    return [[list(row) for row in csv.reader(io.StringIO(text, newline=""))]]


READERS = {"csv": from_csv, "md": from_md, "html": from_html}
"""How the tables of a format are read back; of text and JSON there are tests of their own."""


def written(document: Document, form: str) -> str:
    return "\n".join(lines(document, form)) + "\n"


def shown(text: str) -> str:
    """Return what people see of a text: its lines, and the numbers of control characters."""
    return "\n".join(map(visible, text.split("\n")))


def test_every_format_is_read_back_by_a_test() -> None:
    assert set(FORMATS) == {*READERS, "text", "json", "jsonl"}


@search(50)
@given(TEXTS, ROWS)
def test_cells_and_rows_of_queries_come_back_as_they_were(title: str, rows: list[tuple[str, str]]):
    document, cells = Titled(title, rows), [[shown(cell) for cell in row] for row in rows]
    first, second = (pa.array([row[each] for row in rows], pa.string()) for each in (0, 1))
    part = pa.table({f"n{title}": first, "b": second})
    for form in ("md", "html"):
        (table,) = READERS[form](written(document, form))
        assert table == [[shown(title), "Number"], *cells]
        query = RowsDocument([("SELECT 1", [part, part.slice(0, 0), part])])
        (table,) = READERS[form](written(query, form))
        assert table == [[shown(f"n{title}"), "b"], *cells, *cells]
    facts = [{"a": a, "b": b} for a, b in rows]
    assert json.loads(written(document, "json")) == {"title": title, "rows": facts}
    found = [*map(json.loads, lines(document, "jsonl"))]
    assert found == [{"title": title, **each} for each in facts]


def test_headings_of_pages_and_markdown_are_texts() -> None:
    title = "<b>\"Q'&amp;"
    assert Page(written(Titled(title, []), "html")).headings == [title] * 5
    text = written(Titled("<b> *x* | `y` snake_case _z_", []), "md")
    assert text.splitlines()[0] == r"# \<b\> \*x\* \| \`y\` snake_case \_z\_"


def test_numbers_stand_at_the_right() -> None:
    document = Titled("t", [("a", "1")])
    assert '<td>a</td><td class="n">1</td>' in written(document, "html")
    assert "|---|--:|" in written(document, "md")
    assert written(document, "text").splitlines()[-2:] == ["t  Number", "a       1"]


RESULTS = {
    "report": ["report", "buff", DUMP],
    "task": ["report", "task", DUMP],
    "list": ["report", "--list"],
    "list of inputs": ["report", "--list", DUMP],
    "sql": ["sql", DUMP, 'SELECT qmgr, count(*) AS "a|<b>" FROM wqst GROUP BY 1; SELECT 8 AS y'],
    "info": ["info", DUMP],
    "tables": ["describe"],
    "table": ["describe", "qjst"],
    "view": ["describe", "api_cost", "--format", "md"],
    "column": ["describe", "qjstwrw"],
}


@pytest.mark.sampled(4)
@of_many("name", some([*RESULTS][::-1], 8))
def test_every_result_can_be_had_in_every_format(name: str) -> None:
    arguments = RESULTS[name]
    told = printed(*arguments, "--format", "json")
    by_line = [json.loads(line) for line in printed(*arguments, "--format", "jsonl").splitlines()]
    assert_lines_have(by_line, told, name)
    tables = {form: read(printed(*arguments, "--format", form)) for form, read in READERS.items()}
    assert tables["md"] == tables["html"]
    assert len(tables["md"][0]) > 1
    assert all(len({len(row) for row in table}) == 1 for table in tables["md"])
    if name in ("tables", "table", "view", "column"):
        assert tables["csv"] == tables["md"]
    if name in ("list", "list of inputs"):  # programs get the names that JSON has
        [[headings, *rows]] = tables["md"]
        assert tables["csv"] == [[[each.lower() for each in headings], *rows]]


def assert_lines_have(found: list[dict[str, Any]], told: str, name: str) -> None:
    """Fail unless JSON lines have what JSON has."""
    if name == "sql":
        assert found == [row for line in told.splitlines() for row in json.loads(line)]
        return
    whole = json.loads(told)
    if name in ("report", "task"):
        assert found == [{"report": whole["report"], **row} for row in whole["rows"]]
        return
    together: dict[str, Any] = {}
    for key, value in (each for line in found for each in line.items()):
        several = isinstance(value, dict) and key != "unknown_bytes"
        together[key] = [*together.get(key, []), value] if several else value
    assert together == {key: value for key, value in whole.items() if value != []}


def test_a_page_of_several_results_is_one() -> None:
    text = printed("sql", DUMP, "SELECT 1 AS a; SELECT 2 AS b", "--format", "html")
    assert text.count("<!DOCTYPE html>") == text.count("</html>") == 1
    assert from_html(text) == [[["a"], ["1"]], [["b"], ["2"]]]


def test_numbers_of_queries_are_shown_as_text_shows_them() -> None:
    query = "SELECT 1/3 AS a, 1e-7::DOUBLE AS b, NULL AS c, [1, 2] AS d, 1.50 AS e, TRUE AS f"
    (table,) = from_md(printed("sql", DUMP, query, "--format", "md"))
    assert table[1] == ["0.333333", "1e-7", "null", "[1, 2]", "1.5", "true"]
