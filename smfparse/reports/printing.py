"""A report as a document, from which every output format is made."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from smfparse.rendering import (
    ABSENT,
    GROUPED,
    Cells,
    Column,
    Document,
    Facts,
    Section,
    Table,
    csv_moment,
)
from smfparse.reports import parts, templates
from smfparse.reports.declaration import Figure, Report
from smfparse.reports.running import Row

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
"""CSV columns of the section that stand behind the figures, where they are not in front."""


class ReportDocument(Document):
    """The rows of a report.

    rows   as `run` yields them, read once
    asked  options of the report, as `run` took them
    """

    def __init__(self, which: Report, rows: Iterable[Row], asked: Mapping[str, Any]) -> None:
        self.title = f"{which.name}: {which.title}"
        self._which = which
        self._rows = rows
        self._asked = asked

    def sections(self) -> Iterator[Section]:
        """Yield the sections, with the figures that the text has."""
        left_out = self._which.left_out(self._asked)
        return parts.sections(self._which, self._kept("text"), left_out)

    def tables(self) -> Iterator[Table]:
        """Yield one table, its columns named as in MP1B's CSV; what is absent is empty."""
        which = self._which
        figures = [each for each in which.figures if each.csv]
        before = [*which.csv_keys, *(each.csv for each in figures)]
        tail = {
            name: key
            for name, key in _TAIL.items()
            if name not in before and key not in which.csv_keys.values()
        }
        keys = [*which.csv_keys.values()], [*tail.values()]
        cells = (_cells(figures, *keys, row) for row in self._kept("csv"))
        yield Table([Column(name) for name in (*before, *tail)], cells)

    def facts(self) -> Iterator[Facts]:
        """Yield the rows: figures in full, moments in UTC and in local time."""
        yield Facts({"report": self._which.name}, map(_fact, self._kept("json")))

    def printed(self) -> Iterator[str]:
        """Yield the lines of the report as MP1B prints it."""
        left_out = self._which.left_out(self._asked)
        return templates.text(self._which, self._kept("text"), left_out)

    def _kept(self, format: str) -> Iterator[Row]:  # noqa: A002 - it is called so everywhere
        return (row for row in self._rows if self._which.has(row.get("line") or "", format))


def _cells(
    figures: Iterable[Figure], before: Iterable[str], behind: Iterable[str], row: Row
) -> Cells:
    """Return the cells of a row of CSV: keys, figures, and the other keys."""
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
    cells += [_plain(each, row) for each in figures]
    cells += [keys[key] for key in behind]
    texts = (_timed(row, cell) for cell in cells)
    return ["" if text is None or text == ABSENT else str(text) for text in texts]


def _plain(figure: Figure, row: Row) -> Any:
    """Return a figure for CSV: moments as they are, numbers without separators."""
    value = row[figure.name]
    if value is None or isinstance(value, dt.date | dt.time):
        return value
    return str(math.trunc(value)) if figure.style in GROUPED else figure.shown(value)


def _timed(row: Row, value: Any) -> Any:
    """Return a moment as CSV has it, local time of the system; anything else as it is."""
    if not isinstance(value, dt.datetime):
        return value
    local = templates.local(row, value)
    return None if local is None else csv_moment(local)


def _fact(row: Row) -> dict[str, Any]:
    """Return a row for JSON."""
    found: dict[str, Any] = {}
    for name, value in row.items():
        if name == "section":
            continue
        if isinstance(value, dt.datetime):
            found[name] = value.isoformat()
            if value.tzinfo is not None:
                local = templates.local(row, value)
                found[f"{name}_local"] = local and local.isoformat()
        elif isinstance(value, dt.date | dt.time):
            found[name] = value.isoformat()
        else:
            found[name] = value
    return found
