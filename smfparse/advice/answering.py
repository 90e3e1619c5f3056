"""Rows of any report: from SQL, from rules, or from SQL with findings."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any

from smfparse.reports.running import report_parts, run_report
from smfparse.reports.templates import CLOCK

if TYPE_CHECKING:
    import pyarrow as pa

    from smfparse.query.catalog import Catalog
    from smfparse.reports.declaration import Report
    from smfparse.reports.running import Row
    from smfparse.reports.sections import Sections


def answered_rows(
    which: Report, catalog: Catalog, sections: Sections | None = None, **asked: Any
) -> Generator[Row]:
    """Yield the rows of any report, as `run_report` does for reports with SQL.

    If the user requested a time zone, each row contains it as CLOCK.
    """
    clock = {CLOCK: catalog.zone} if catalog.zone else {}
    with closing(_rows(which, catalog, sections, asked)) as found:
        if clock:
            yield from ({**row, **clock} for row in found)
        else:
            yield from found


def _rows(
    which: Report, catalog: Catalog, sections: Sections | None, asked: Mapping[str, Any]
) -> Generator[Row]:
    if which.rules:
        from smfparse.advice.messages import message_rows

        yield from message_rows(which, catalog, sections, asked)
    elif which.findings:
        from smfparse.advice.messages import pages

        yield from pages(which, catalog, sections, asked)
    else:
        yield from run_report(which, catalog, sections, **asked)


def answered_parts(
    which: Report, catalog: Catalog, sections: Sections | None = None, **asked: Any
) -> Generator[pa.Table]:
    """Yield the rows of `answered_rows` as pyarrow.Tables, at least one, like `report_parts`."""
    if which.rules:
        from smfparse.advice.messages import message_table

        yield message_table(which, catalog, sections, asked)
    elif which.findings:
        from smfparse.advice.messages import pages_table

        yield pages_table(which, catalog, sections, asked)
    else:
        yield from report_parts(which, catalog, sections, **asked)
