"""Reports over inputs, as the library gives them."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from smfparse.advice.answering import answered_rows
from smfparse.inputs.opening import open_inputs
from smfparse.query.catalog import Catalog
from smfparse.rendering import md
from smfparse.rendering.formats import FORMATS, lines
from smfparse.reports.declaration import Report, report
from smfparse.reports.printing import ReportDocument
from smfparse.reports.sections import Sections
from tests.support.builders import put

Rows = list[dict[str, Any]]


def anyone(which: Report) -> dict[str, str]:
    """Return the options without which a report is about nobody, so that it is about everybody."""
    return dict.fromkeys(which.required[:1], "*")


def asking(which: Report) -> list[str]:
    """Return the same as options of the command line."""
    return [f"--{option}={each}" for option, each in anyone(which).items()]


def report_rows(name: str, *paths: Path, sections: Sections | None = None, **asked: Any) -> Rows:
    """Return the rows of a report over inputs; `sections`: None for those of its declaration.

    asked  options of the report
    """
    with Catalog(open_inputs(paths)) as catalog:
        return rows_in(catalog, name, sections, **asked)


def rows_in(catalog: Catalog, name: str, sections: Sections | None = None, **asked: Any) -> Rows:
    which = report(name)
    found = answered_rows(which, catalog, sections, **(asked or anyone(which)))
    return [dict(row) for row in found]


def rows_from(name: str, *records: bytes, sections: Sections | None = None, **asked: Any) -> Rows:
    """Return the rows of a report over records that are in no file yet; as `report_rows`."""
    with TemporaryDirectory() as folder:
        path = put(Path(folder) / "records.smf", *records)
        return report_rows(name, path, sections=sections, **asked)


def printed(which: Report, rows: Iterable[Any], form: str, **asked: Any) -> Iterator[str]:
    return lines(ReportDocument(which, rows, asked), form)


def lines_of(name: str, rows: Iterable[Any], form: str = "text", **asked: Any) -> list[str]:
    return list(printed(report(name), rows, form, **asked))


def report_lines(
    name: str, *paths: Path, form: str = "text", sections: Sections | None = None, **asked: Any
) -> list[str]:
    return lines_of(name, report_rows(name, *paths, sections=sections, **asked), form, **asked)


def cells(found: Iterable[str]) -> list[dict[str, str]]:
    return list(csv.DictReader(found))


def of(line: str, rows: Rows, qmgr: str | None = None) -> Rows:
    """Return the rows of a kind of line, of one queue manager or of all."""
    return [row for row in rows if row["line"] == line and (qmgr is None or row["qmgr"] == qmgr)]


def values(row: Mapping[str, Any], names: str) -> list[Any]:
    """Return the figures of a row whose names stand in a text."""
    return [row[name] for name in names.split()]


def by_qmgr(rows: Rows) -> dict[str, Rows]:
    names = dict.fromkeys(row["qmgr"] for row in rows)
    return {name: [row for row in rows if row["qmgr"] == name] for name in names}


def check_forms(which: Report, rows: Sequence[dict[str, Any]], **asked: Any) -> None:
    """Write a report in each format; what is read back has a row and cell for all there is."""
    assert {*FORMATS} == {"text", "csv", "json", "jsonl", "md", "html"}
    figures = {each.name for each in which.figures}
    assert all(figures <= row.keys() for row in rows[:1])
    told = {form: list(printed(which, rows, form, **asked)) for form in FORMATS}
    kinds = [row.get("line") or "" for row in rows]
    header, *table = csv.reader(told["csv"])
    assert len(set(header)) == len(header)
    wanted = sum(which.has(kind, "csv") for kind in kinds)
    assert [len(row) for row in table] == [len(header)] * wanted
    found = json.loads("\n".join(told["json"]))
    assert found["report"] == which.name
    assert len(found["rows"]) == sum(which.has(kind, "json") for kind in kinds)
    assert all(figures <= row.keys() for row in found["rows"])
    of_lines = [json.loads(each) for each in told["jsonl"]]
    assert of_lines == [{"report": which.name} | each for each in found["rows"]]
    assert told["md"][0] == f"# {md.escaped(f'{which.name}: {which.title}')}"
    assert told["html"][-1] == "</html>"
    assert told["text"]


def check_sections(rows: Sequence[dict[str, Any]]) -> None:
    """The rows of a section stand together."""
    together = [section for section, _ in groupby(row["section"] for row in rows)]
    assert all(section not in together[:place] for place, section in enumerate(together))
