"""Reports over inputs, as the library gives them."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from smfparse import reports
from smfparse.advice import answered_rows
from smfparse.inputs import open_inputs
from smfparse.query import Catalog
from smfparse.rendering import lines
from smfparse.reports import Report, ReportDocument, Sections
from tests.support.builders import rdw


def anyone(which: Report) -> dict[str, str]:
    """Return the options without which a report is about nobody, so that it is about everybody."""
    return dict.fromkeys(which.required[:1], "*")


def asking(which: Report) -> list[str]:
    """Return the same as options of the command line."""
    return [f"--{option}={each}" for option, each in anyone(which).items()]


def report_rows(
    name: str, *paths: Path, sections: Sections | None = None, **asked: Any
) -> list[dict[str, Any]]:
    """Return the rows of a report over inputs; `sections`: None for those of its declaration.

    asked  options of the report
    """
    with Catalog(open_inputs(paths)) as catalog:
        which = reports.report(name)
        found = answered_rows(which, catalog, sections, **(asked or anyone(which)))
        return [dict(row) for row in found]


def rows_from(
    name: str, *records: bytes, sections: Sections | None = None, **asked: Any
) -> list[dict[str, Any]]:
    """Return the rows of a report over records that are in no file yet; as `report_rows`."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "records.smf"
        path.write_bytes(rdw(records))
        return report_rows(name, path, sections=sections, **asked)


def printed(
    which: Report, rows: Iterable[Mapping[str, Any]], form: str, **asked: Any
) -> Iterator[str]:
    """Return the lines of rows of a report in a format."""
    return lines(ReportDocument(which, rows, asked), form)


def lines_of(
    name: str, rows: Iterable[Mapping[str, Any]], form: str = "text", **asked: Any
) -> list[str]:
    """Return the lines of rows of a report, by its name."""
    return list(printed(reports.report(name), rows, form, **asked))


def report_lines(
    name: str,
    *paths: Path,
    form: str = "text",
    sections: Sections | None = None,
    **asked: Any,
) -> list[str]:
    """Return the lines of a report over inputs."""
    rows = report_rows(name, *paths, sections=sections, **asked)
    return lines_of(name, rows, form, **asked)


def cells(found: Iterable[str]) -> list[dict[str, str]]:
    """Read the lines of CSV back."""
    return list(csv.DictReader(found))
