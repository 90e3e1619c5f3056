"""A report as a document, the source of every output format."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from smfparse.rendering.document import Document, Facts, Section, Values
from smfparse.rendering.figures import ABSENT
from smfparse.rendering.text import HEAD, Mark
from smfparse.reports import templates
from smfparse.reports.declaration import Figure, Report
from smfparse.reports.running import Row
from smfparse.reports.sections import HIDDEN

_TAIL = {
    "z/OS": "system",
    "QM": "qmgr",
    "Date": "date",
    "Time": "time",
    "VRM": "vrm",
    "QSG": "qsg",
    "Interval start": "from",
    "Interval seconds": "interval_seconds",
    "Intervals": "intervals",
    "Marks": "marks",
    "Bucket": "bucket",
}
"""Keys of a section, by CSV heading.

Keys that a report does not place before the figures are placed after them.
"""


class ReportDocument(Document):
    """The rows of a report.

    rows   rows of `run_report`, read once
    asked  options of the report, as passed to `run_report`
    width  maximum number of characters of a line; longer lines are folded. None: no maximum
    zeros  whether text contains lines whose figures are all zero
    """

    marks = (Mark(r"[^ ,]*,[^ ,]*,\d{4}/\d\d/\d\d,.*|From \d{4}/.* seconds\.", HEAD),)

    def __init__(
        self,
        which: Report,
        rows: Iterable[Row],
        asked: Mapping[str, Any],
        width: int | None = None,
        *,
        zeros: bool = False,
    ) -> None:
        self.title = f"{which.name}: {which.title}"
        self._which = which
        self._rows = rows
        self._asked = asked
        self._width = width
        self._zeros = zeros

    def sections(self) -> Iterator[Section]:
        """Yield the sections, with the same figures as the text."""
        from smfparse.reports import parts

        left_out = self._which.left_out(self._asked)
        return parts.sections(self._which, self._rows_in("text"), left_out, zeros=self._zeros)

    def tables(self) -> Iterator[Values]:
        """Yield one table, with the column names of MP1B's CSV; absent values are None."""
        which = self._which
        figures = [each for each in which.figures if each.csv]
        names = [(each, "") for each in which.csv_keys]
        names += [(each.csv, each.style) for each in figures]
        before = [name for name, _ in names]
        tail = {
            name: key
            for name, key in _TAIL.items()
            if name not in before and key not in which.csv_keys.values()
        }
        keys = [*which.csv_keys.values()], [*tail.values()]
        rows = (_values(figures, *keys, row) for row in self._rows_in("csv"))
        yield Values(which.name, [*names, *((each, "") for each in tail)], rows)

    def facts(self) -> Iterator[Facts]:
        """Yield the rows: figures in full, moments in UTC and in local time."""
        yield Facts({"report": self._which.name}, map(_fact, self._rows_in("json")))

    def printed(self) -> Iterator[str]:
        """Yield the lines of the report as MP1B prints it."""
        left_out = self._which.left_out(self._asked)
        rows = self._rows_in("text")
        return templates.text(self._which, rows, left_out, self._width, zeros=self._zeros)

    def _rows_in(self, format: str) -> Iterator[Row]:  # noqa: A002 - the same name everywhere
        return (row for row in self._rows if self._which.has(row.get("line") or "", format))


def _values(
    figures: Iterable[Figure], before: Iterable[str], behind: Iterable[str], row: Row
) -> list[Any]:
    """Return a row of the table: keys `before`, figures, keys `behind`; moments are local."""
    seconds, taken = row["interval_seconds"], row["smf_time"]
    keys = {
        **templates.keys_of(row),
        **row,
        "from": row["interval_start"],
        "start": row["interval_start"],
        "end": row["interval_end"],
        "date": taken and taken.date(),
        "time": taken and taken.time().replace(microsecond=0),
        "interval_seconds": None if seconds is None else round(seconds, 6),
    }
    cells = [keys[key] for key in before]
    cells += [row[each.name] for each in figures]
    cells += [keys[key] for key in behind]
    return [_locally(row, cell) for cell in cells]


def _locally(row: Row, value: Any) -> Any:
    if isinstance(value, dt.datetime):
        moment = templates.local(row, value)
        return moment and moment.replace(tzinfo=None)
    return None if value == ABSENT else value


def _fact(row: Row) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in row.items():
        if name in (*HIDDEN, templates.CLOCK):
            continue
        if isinstance(value, dt.datetime):
            found[name] = templates.with_offset(row, value).isoformat()
            if value.tzinfo is not None:
                local = templates.local(row, value)
                found[f"{name}_local"] = local and local.isoformat()
        elif isinstance(value, dt.date | dt.time):
            found[name] = value.isoformat()
        else:
            found[name] = value
    return found
