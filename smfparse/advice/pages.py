"""Reports with findings of `check` about the names in their rows, page by page."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from smfparse.advice.findings import Finding
from smfparse.advice.running import run_rules
from smfparse.reports.declaration import Report
from smfparse.reports.running import Row, report_table, run_report
from smfparse.reports.sections import HIDDEN, SECTION_COLUMNS, Sections

if TYPE_CHECKING:
    from smfparse.query.catalog import Catalog

_LINE = "finding"
"""Kind of line of a row about a finding."""


def pages(
    which: Report, catalog: Catalog, sections: Sections | None, asked: Mapping[str, Any]
) -> Generator[Row]:
    """Yield the rows of a report; after the rows of each page, findings about names in them."""
    rows = list(run_report(which, catalog, sections, **asked))
    yield from _with_findings(which, catalog, rows) if rows else ()


def pages_table(
    which: Report, catalog: Catalog, sections: Sections | None, asked: Mapping[str, Any]
) -> pa.Table:
    """Return the rows of `pages` as a pyarrow.Table."""
    found = report_table(which, catalog, sections, **asked)
    if not found.num_rows:
        return found
    rows = _with_findings(which, catalog, found.to_pylist())
    return pa.Table.from_pylist(list(rows), found.schema)


def _with_findings(which: Report, catalog: Catalog, rows: Sequence[Row]) -> Iterator[Row]:
    first = which.findings[0]
    found = run_rules(catalog, of_names=True).findings

    def page(row: Row) -> tuple[Any, ...]:
        return row.get("section"), row["bucket"], row["system"], row["qmgr"], row[first]

    for _, its in groupby(rows, page):
        its_rows = list(its)
        yield from its_rows
        names = {row[name] for row in its_rows for name in which.findings} - {None}
        for each in found:
            if _is_about(each, its_rows[0], names):
                yield _row(each, its_rows[0], first)


def _is_about(finding: Finding, row: Row, names: set[str]) -> bool:
    """Whether a finding is about one of the names, at the queue manager of a row."""
    if (finding.system, finding.qmgr) != (row["system"], row["qmgr"]):
        return False
    return not names.isdisjoint({finding.object, finding.job, *finding.jobs})


def _row(finding: Finding, row: Row, first: str) -> dict[str, Any]:
    kept = (first, "system", "qmgr", *HIDDEN, *SECTION_COLUMNS)
    return {name: row[name] if name in kept else None for name in row} | {
        "line": _LINE,
        "severity": finding.severity,
        "rule": finding.rule,
        "finding": finding.name,
        "object": finding.object,
        "first_at": finding.start,
        "last_at": finding.end,
        "crossed_share": 100 * finding.share,
    }
