"""The rows of a report as text, CSV and JSON."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
import math
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from smfparse.layout import version_key
from smfparse.rendering.figures import ABSENT, FORMULA_START, GROUPED, MOMENTS, NUMBER, STYLES
from smfparse.reports.declaration import Figure, Report, TextTable
from smfparse.reports.running import Row

WHOLE_SECONDS_SINCE = (9, 3, 0)
"""The release from which the interval line is written in whole seconds."""
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
_CONDITION = re.compile(r"\{\?(\w+)\}")
"""In front of a line: it is only shown where this figure is neither absent nor nothing."""


@dataclass(frozen=True)
class _Shown:
    """A figure in a text template: padded, with its unit behind it."""

    text: str
    suffix: str

    def __format__(self, spec: str) -> str:
        padded = format(self.text, spec)
        return padded if self.text == ABSENT else padded + self.suffix


class _Cells(dict[str, Any]):
    """What a template can show of a row; a figure is put into its style when it is asked for."""

    def __init__(self, printer: _Printer, row: Row) -> None:
        super().__init__(_keys(row))
        self._printer = printer
        self._row = row

    def __missing__(self, name: str) -> _Shown:
        figure = self._printer.figures[name]
        return _Shown(shown(figure, self._row), figure.suffix)


class _Printer:
    """A report's templates, taken apart.

    left_out  columns of blocks that nobody asked for
    """

    def __init__(self, which: Report, left_out: Collection[str]) -> None:
        self.figures = {each.name: each for each in which.figures}
        self._left_out = left_out
        self._templates = {
            name: [_line(line) for line in text.strip("\n").splitlines()]
            for name, text in which.text.items()
        }
        self._headings: dict[str, list[str]] = {}
        for name, block in which.blocks.items():
            heading, template = self._table(block)
            self._headings[name] = ["", *block.title.splitlines(), heading]
            self._templates[name] = [((), template)]

    def _table(self, block: TextTable) -> tuple[str, str]:
        """Return the heading of a block and the template of its lines."""
        columns = [each for each in block.columns if each[0] not in self._left_out]
        heading = "  ".join(format(heading, how) for _, heading, how in columns)
        return heading.rstrip(), "  ".join(f"{{{name}:{how}}}" for name, _, how in columns)

    def heading(self, row: Row, before: Row | None) -> Iterable[str]:
        """Return the lines above the block that a row begins."""
        line = row.get("line") or ""
        if before is not None and line == (before.get("line") or ""):
            return ()
        return self._headings.get(line, ())

    def lines(self, row: Row) -> Iterator[str]:
        cells = _Cells(self, row)
        for conditions, template in self._templates[row.get("line") or ""]:
            if all(row[name] for name in conditions):
                yield template.format_map(cells).rstrip()


def _line(text: str) -> tuple[Sequence[str], str]:
    conditions = []
    while found := _CONDITION.match(text):
        conditions.append(found[1])
        text = text[found.end() :]
    return conditions, text


def _vrm(row: Row) -> str:
    """Return the release as MP1B prints it: 930, and 100000 for MQ 10."""
    if row["mq_version"] is None:
        return ABSENT
    parts = version_key(row["mq_version"])
    if parts[0] < 10:
        return "".join(map(str, parts))
    return "".join(f"{part:02}" for part in parts)


def _keys(row: Row) -> dict[str, str]:
    """Return what a template can show of the section, by TEMPLATE_KEYS."""
    taken = row["smf_time"]
    start, end = _local(row, row["interval_start"]), _local(row, row["interval_end"])
    return {
        "system": row["system"] or ABSENT,
        "qmgr": row["qmgr"] or ABSENT,
        "date": ABSENT if taken is None else f"{taken:%Y/%m/%d}",
        "time": ABSENT if taken is None else f"{taken:%H:%M:%S}",
        "vrm": _vrm(row),
        "start": STYLES["second"][0](start) if start else ABSENT,
        "end": STYLES["second"][0](end) if end else ABSENT,
    }


def _local(row: Row, moment: dt.datetime | None) -> dt.datetime | None:
    """Return a moment in the local time of the section's system; one without a zone is so."""
    if moment is None or moment.tzinfo is None:
        return moment
    if row["utc_offset"] is None:
        return None
    zone = dt.timezone(dt.timedelta(seconds=row["utc_offset"]))
    return moment.astimezone(zone)


def _interval_line(row: Row) -> str:
    start, end = _local(row, row["interval_start"]), _local(row, row["interval_end"])
    seconds = row["interval_seconds"]
    version = row["mq_version"]
    whole = version is None or version_key(version) >= WHOLE_SECONDS_SINCE
    if start is None or end is None:
        return f"From {ABSENT} to {ABSENT}, duration {ABSENT} seconds."
    first, last = (STYLES["second" if whole else "instant"][0](each) for each in (start, end))
    if whole:
        return f"From {first} to {last}, duration {math.trunc(seconds)} seconds."
    return f"From {first} to {last} duration {seconds:.6f} seconds"


def shown(figure: Figure, row: Row) -> str:
    """Return a figure of a row as text has it, without its unit."""
    value = row[figure.name]
    return figure.shown(_local(row, value) if figure.style in MOMENTS else value)


def text(which: Report, rows: Iterable[Row], left_out: Collection[str] = ()) -> Iterator[str]:
    """Yield the lines of the report as MP1B prints it, an empty line between sections."""
    printer = _Printer(which, left_out)
    before: Row | None = None
    if which.top:
        yield which.top
    for row in rows:
        if before is None or row["section"] != before["section"]:
            if before is not None and which.header:
                yield ""
            before = None
            yield from _beginning(which, row)
        yield from printer.heading(row, before)
        yield from printer.lines(row)
        before = row
    if before is None:
        yield which.title


def _beginning(which: Report, row: Row) -> Iterator[str]:
    """Yield the lines in front of the rows of a section."""
    if which.header and not which.across:
        yield "{system},{qmgr},{date},{time},VRM:{vrm},".format_map(_keys(row))
    if which.header:
        yield _interval_line(row)
        if row["marks"]:
            yield f"Marked {row['marks']}"
    yield from which.heading.strip("\n").splitlines()


def csv_lines(which: Report, rows: Iterable[Row]) -> Iterator[str]:
    """Yield a header and a line a row; what is absent is empty."""
    figures = [each for each in which.figures if each.csv]
    before = [*which.csv_keys, *(each.csv for each in figures)]
    tail = {
        name: key
        for name, key in _TAIL.items()
        if name not in before and key not in which.csv_keys.values()
    }
    keys = [*which.csv_keys.values()], [*tail.values()]
    cells = (_csv_cells(figures, *keys, row) for row in rows)
    yield from csv_rows(chain([[*before, *tail]], cells))


def _csv_cells(
    figures: Iterable[Figure], before: Iterable[str], behind: Iterable[str], row: Row
) -> list[str]:
    """Return the cells of a row: keys, figures, and the other keys."""
    start = _local(row, row["interval_start"])
    seconds = row["interval_seconds"]
    keys = {
        **row,
        **_keys(row),
        "from": start and start.isoformat(),
        "interval_seconds": None if seconds is None else round(seconds, 6),
    }
    cells = [keys[key] for key in before]
    cells += [_plain(each, row) for each in figures]
    cells += [keys[key] for key in behind]
    return [_csv_cell(cell) for cell in cells]


def _plain(figure: Figure, row: Row) -> str | None:
    """Return a figure for CSV: moments in ISO 8601, numbers without separators."""
    value = row[figure.name]
    if value is None:
        return None
    if figure.style in MOMENTS:
        local = _local(row, value)
        return None if local is None else local.isoformat()
    return str(math.trunc(value)) if figure.style in GROUPED else figure.shown(value)


def _csv_cell(value: Any) -> str:
    """Return a cell that no spreadsheet takes for a formula."""
    if value is None or value == ABSENT:
        return ""
    text = str(value)
    formula = re.match(FORMULA_START, text) and not re.match(NUMBER, text)
    return f"'{text}" if formula else text


def csv_rows(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield a line of CSV for each row of cells."""
    for cells in rows:
        line = io.StringIO()
        csv.writer(line, lineterminator="").writerow(cells)
        yield line.getvalue()


def json_lines(which: Report, rows: Iterable[Row]) -> Iterator[str]:
    """Yield the report as JSON: figures in full, moments in UTC and in local time."""
    opened = f'{{"report": {json.dumps(which.name)}, "rows": ['
    before = opened
    for row in rows:
        yield f"{before}\n{json.dumps(_json_row(row))}"
        before = ","
    yield f"{before}]}}" if before == opened else "]}"


def _json_row(row: Row) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in row.items():
        if name == "section":
            continue
        if isinstance(value, dt.datetime):
            found[name] = value.isoformat()
            if value.tzinfo is not None:
                local = _local(row, value)
                found[f"{name}_local"] = local and local.isoformat()
        else:
            found[name] = value
    return found


def lines(which: Report, rows: Iterable[Row], form: str, **asked: Any) -> Iterator[str]:
    """Yield the lines of the report in the form text, csv or json.

    asked  options of the report, as they were told to `run_report`
    """
    kept = (row for row in rows if which.has(row.get("line") or "", form))
    if form == "text":
        return text(which, kept, which.left_out(asked))
    return {"csv": csv_lines, "json": json_lines}[form](which, kept)
