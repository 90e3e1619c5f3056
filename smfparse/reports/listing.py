"""The list of reports, and for each report whether the inputs contain its data."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from smfparse.rendering.document import Cells, Column, Document, Facts, Section, Table
from smfparse.rendering.text import aligned
from smfparse.reports.declaration import Report, declared

if TYPE_CHECKING:
    from smfparse.query.catalog import Catalog

_SHORT = ("name", "data", "title")
"""Columns shown without --explain."""
_GAP = 2
"""Number of blanks between two columns."""
_HEADINGS = {"name": "Name", "data": "Data", "title": "Title", "dd": "DD", "trace": "Trace"}


@dataclass(frozen=True)
class Listed:
    """A report in the list.

    dd    MP1B's DD names of the report
    data  whether the inputs contain data for the report: yes, no, or perhaps (the required records
          exist, but the report may have no rows); None: no inputs
    """

    name: str
    title: str
    dd: str
    trace: str
    data: str | None


def reports_listed(catalog: Catalog | None = None) -> list[Listed]:
    """Return all reports. `data` is filled if a catalog is given.

    If the declaration of a report is wrong, its title is the error message.
    """
    found = declared()
    good = [each for each in found.values() if isinstance(each, Report)]
    filled = None if catalog is None else _filled(catalog, {t for each in good for t in each.main})
    return [
        Listed(
            each.name,
            each.title,
            " ".join(each.dd),
            each.trace,
            None if filled is None else _data(each, filled),
        )
        if isinstance(each, Report)
        else Listed(name, f"cannot be used: {each}", "", "", None if filled is None else "no")
        for name, each in found.items()
    ]


def _data(which: Report, filled: set[str]) -> str:
    if filled.isdisjoint(which.main):
        return "no"
    return "perhaps" if which.nothing else "yes"


def _filled(catalog: Catalog, tables: set[str]) -> set[str]:
    counts = ", ".join(f"(SELECT count(*) FROM inputs.{t}) AS {t}" for t in sorted(tables))
    (row,) = catalog.arrow(f"SELECT {counts}").to_pylist()
    return {table for table, count in row.items() if count}


class ListDocument(Document):
    """The list of reports as a document.

    at_length  whether the printed form also shows MP1B's DD names and the traces
    """

    title = "Reports"
    room = 80

    def __init__(self, listed: Sequence[Listed], *, at_length: bool = False) -> None:
        self._listed = listed
        self._at_length = at_length

    def sections(self) -> Iterator[Section]:
        """Yield one section with the table of reports."""
        columns = [Column(_HEADINGS[name]) for name in self._names()]
        yield Section("", [Table(columns, self._rows())])

    def tables(self) -> Iterator[Table]:
        """Yield the table of reports, with the JSON keys as headings."""
        yield Table([*map(Column, self._names())], self._rows())

    def facts(self) -> Iterator[Facts]:
        """Yield the reports as objects."""
        yield Facts({"reports": [asdict(each) for each in self._listed]}, indent=2)

    def printed(self) -> Iterator[str]:
        """Yield the lines of the table, with the JSON keys as headings; titles are wrapped."""
        if self._at_length:
            yield from aligned([*map(Column, self._names())], self._rows())
            return
        names = [name for name in self._names() if name in _SHORT]
        lines = aligned([*map(Column, names)], self._rows(names))
        margin = max(len(each.name) for each in self._listed) + _GAP
        margin += (
            max(len(each.data or "") for each in self._listed) + _GAP if "data" in names else 0
        )
        for line in lines:
            yield from textwrap.wrap(
                line, self.room, subsequent_indent=" " * margin, break_on_hyphens=False
            )

    def _names(self) -> list[str]:
        known = any(each.data is not None for each in self._listed)
        return [name for name in _HEADINGS if known or name != "data"]

    def _rows(self, names: Sequence[str] = ()) -> list[Cells]:
        return [
            [getattr(each, name) or "" for name in names or self._names()] for each in self._listed
        ]
