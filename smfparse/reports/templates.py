"""The text of a report, as MP1B prints it: templates of lines, filled with the figures of a row."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from smfparse.layout import version_key
from smfparse.rendering import ABSENT, MOMENTS, STYLES, visible
from smfparse.reports.declaration import Figure, Report, TextTable
from smfparse.reports.running import Row

WHOLE_SECONDS_SINCE = (9, 3, 0)
"""The release from which the interval line is written in whole seconds."""
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
    """What a template can show of a row; a figure becomes text when it is asked for."""

    def __init__(self, printer: Printer, row: Row) -> None:
        super().__init__(keys_of(row))
        self._printer = printer
        self._row = row

    def __missing__(self, name: str) -> _Shown:
        figure = self._printer.figures[name]
        return _Shown(shown(figure, self._row), figure.suffix)


class Printer:
    """A report's templates, taken apart.

    left_out   columns of blocks that nobody asked for
    templates  by kind of line: the lines, and the figures without which each is left out
    """

    def __init__(self, which: Report, left_out: Collection[str]) -> None:
        self.figures = {each.name: each for each in which.figures}
        self._left_out = left_out
        self.templates = {
            name: [_line(line) for line in text.strip("\n").splitlines()]
            for name, text in which.text.items()
        }
        self._headings: dict[str, list[str]] = {}
        for name, block in which.blocks.items():
            heading, template = self._table(block)
            self._headings[name] = ["", *block.title.splitlines(), heading]
            self.templates[name] = [((), template)]

    def _table(self, block: TextTable) -> tuple[str, str]:
        """Return the heading of a block and the template of its lines."""
        columns = self.columns(block)
        heading = "  ".join(format(heading, how) for _, heading, how in columns)
        return heading.rstrip(), "  ".join(f"{{{name}:{how}}}" for name, _, how in columns)

    def columns(self, block: TextTable) -> list[tuple[str, str, str]]:
        """Return the columns of a block that are shown: figure or key, heading, format."""
        return [each for each in block.columns if each[0] not in self._left_out]

    def heading(self, row: Row, before: Row | None) -> Iterable[str]:
        """Return the lines above the block that a row begins."""
        line = row.get("line") or ""
        if before is not None and line == (before.get("line") or ""):
            return ()
        return self._headings.get(line, ())

    def cells(self, row: Row) -> Mapping[str, Any]:
        """Return the keys and figures of a row by name, to be put into a template."""
        return _Cells(self, row)

    def lines(self, row: Row) -> Iterator[str]:
        """Yield the lines of a row."""
        cells = self.cells(row)
        for conditions, template in self.templates[row.get("line") or ""]:
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


def keys_of(row: Row) -> dict[str, str]:
    """Return what a template can show of the section, by TEMPLATE_KEYS."""
    taken = row["smf_time"]
    start, end = local(row, row["interval_start"]), local(row, row["interval_end"])
    return {
        "system": visible(row["system"] or ABSENT),
        "qmgr": visible(row["qmgr"] or ABSENT),
        "date": ABSENT if taken is None else f"{taken:%Y/%m/%d}",
        "time": ABSENT if taken is None else f"{taken:%H:%M:%S}",
        "vrm": _vrm(row),
        "start": STYLES["second"][0](start) if start else ABSENT,
        "end": STYLES["second"][0](end) if end else ABSENT,
    }


def local(row: Row, moment: dt.datetime | None) -> dt.datetime | None:
    """Return a moment in the local time of the section's system; one without a zone is so."""
    if moment is None or moment.tzinfo is None:
        return moment
    if row["utc_offset"] is None:
        return None
    zone = dt.timezone(dt.timedelta(seconds=row["utc_offset"]))
    return moment.astimezone(zone)


def interval_line(row: Row) -> str:
    """Return the line that says from when to when the interval of a section was."""
    start, end = local(row, row["interval_start"]), local(row, row["interval_end"])
    seconds = row["interval_seconds"]
    version = row["mq_version"]
    whole = version is None or version_key(version) >= WHOLE_SECONDS_SINCE
    if start is None or end is None:
        return f"From {ABSENT} to {ABSENT}, duration {ABSENT} seconds."
    first, last = (STYLES["second" if whole else "instant"][0](each) for each in (start, end))
    if whole:
        return f"From {first} to {last}, duration {_whole(seconds)} seconds."
    return f"From {first} to {last} duration {seconds:.6f} seconds"


def _whole(seconds: float) -> str:
    """Return whole seconds, as MP1B cuts them off; of what is shorter than one, decimals."""
    if 0 < seconds < 1:
        return f"{seconds:.2f}" if seconds >= 0.005 else f"{seconds:.6f}"
    return str(math.trunc(seconds))


def shown(figure: Figure, row: Row) -> str:
    """Return a figure of a row as text has it, without its unit."""
    value = row[figure.name]
    return figure.shown(local(row, value) if figure.style in MOMENTS else value)


def text(which: Report, rows: Iterable[Row], left_out: Collection[str] = ()) -> Iterator[str]:
    """Yield the lines of the report as MP1B prints it, an empty line between sections."""
    printer = Printer(which, left_out)
    before: Row | None = None
    yield from which.top.splitlines()
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
        yield "{system},{qmgr},{date},{time},VRM:{vrm},".format_map(keys_of(row))
    if which.header:
        yield interval_line(row)
        if row["marks"]:
            yield f"Marked {row['marks']}"
    yield from which.heading.strip("\n").splitlines()
