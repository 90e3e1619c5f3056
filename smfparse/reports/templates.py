"""The text of a report, as MP1B prints it: templates of lines, filled with the figures of a row.

For speed, each cell of a template is formatted for many rows in one step.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby, repeat
from operator import attrgetter
from string import Formatter
from typing import Any, NamedTuple, TypeAlias

from smfparse.layout.columns import version_key
from smfparse.rendering.figures import ABSENT, MOMENTS, NUMBERS, STYLES, visible
from smfparse.rendering.text import some_at_a_time
from smfparse.reports.declaration import Figure, Report, TextTable
from smfparse.reports.running import Row
from smfparse.reports.sections import OFFSET, START_OFFSET

Cell: TypeAlias = Callable[[Sequence[Row]], Sequence[str]]
"""Function that returns the texts of one cell, one text per row."""
_AT_ONCE = 512
"""Number of rows that are formatted in one step."""
WHOLE_SECONDS_SINCE = (9, 3, 0)
"""First release of MQ for which the interval line shows whole seconds."""
CLOCK = "clock"
"""Key of a row for the requested zone of local times; the key is missing if none is requested."""
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_SIZE = re.compile(r"(\d+)$")
"""The minimum width in a format."""
_WIDTH = re.compile(r"([<>]?)(\d+)")
"""A format that only pads; without < or >, the text is aligned to the left."""
_CONDITION = re.compile(r"\{\?(\w+|\*)\}")
"""A condition in front of a line: the figure must be present and not zero."""
_ANY_NUMBER = "*"
"""Name in a condition for: at least one number of the line is present and not zero."""
_ALL_ZERO = "All values are 0 or absent."
"""Text of a section without lines."""
_INDENT = 6
"""Number of blanks in front of a continuation line."""


class Line(NamedTuple):
    """A parsed line of a template.

    conditions  groups of figures: the line is omitted unless each group has a figure to show
    names       names of the cells: figures, and keys of the section
    pattern     the line with %s for each cell
    cells       formatting functions of the cells
    starts      positions of the cells, as far as the widths of the previous cells are known
    """

    conditions: Sequence[Sequence[str]]
    names: Sequence[str]
    pattern: str
    cells: Sequence[Cell]
    starts: Sequence[int]


class Printer:
    """The parsed templates of a report.

    left_out   columns of blocks that are not shown
    width      maximum number of characters of a line; longer lines are folded. None: no maximum
    zeros      whether to show lines whose figures are all zero
    templates  the lines by kind of line
    """

    def __init__(
        self,
        which: Report,
        left_out: Collection[str],
        width: int | None = None,
        *,
        zeros: bool = False,
    ) -> None:
        self.figures = {each.name: each for each in which.figures}
        self.width = width
        self._is_shown = _is_there if zeros else bool
        self._left_out = left_out
        self.templates = {
            name: [self._line(line) for line in text.strip("\n").splitlines()]
            for name, text in which.text.items()
        }
        self._headings: dict[str, list[str]] = {}
        for name, block in which.blocks.items():
            heading, template = self._table(block)
            line = self._line(template)
            above = [*folded(heading, line.starts, width)]
            title = (
                piece for each in block.title.splitlines() for piece in folded(each, (), width)
            )
            self._headings[name] = ["", *title, *above]
            self.templates[name] = [line]

    def _table(self, block: TextTable) -> tuple[str, str]:
        columns = self.columns(block)
        heading = "  ".join(format(heading, how) for _, heading, how in columns)
        return heading.rstrip(), "  ".join(f"{{{name}:{how}}}" for name, _, how in columns)

    def columns(self, block: TextTable) -> list[tuple[str, str, str]]:
        """Return the name, heading and format of each shown column of a block."""
        return [each for each in block.columns if each[0] not in self._left_out]

    def heading(self, row: Row, before: Row | None) -> Iterable[str]:
        """Return the lines above a row: the heading of its block, if the row begins the block.

        before  the previous row of the section; None: the row is the first
        """
        kind = row.get("line") or ""
        if before is not None and kind == (before.get("line") or ""):
            return ()
        return self._headings.get(kind, ())

    def lines(self, rows: Sequence[Row]) -> list[list[str]]:
        """Return the lines of each row."""
        found: list[list[str]] = [[] for _ in rows]
        kinds: dict[str, list[tuple[Row, list[str]]]] = {}
        for row, lines in zip(rows, found, strict=True):
            kinds.setdefault(row.get("line") or "", []).append((row, lines))
        for kind, each in kinds.items():
            for conditions, templates in groupby(self.templates[kind], attrgetter("conditions")):
                pairs = [pair for pair in each if self.holds(conditions, pair[0])]
                _fill(templates, pairs, self.width)
        return found

    def holds(self, conditions: Sequence[Sequence[str]], row: Row) -> bool:
        """Whether lines with these conditions are shown for a row."""
        return all(any(self._is_shown(row[each]) for each in some) for some in conditions)

    def top(self, text: str) -> Iterator[str]:
        """Yield the lines of a text above rows, folded at the columns of the widest template."""
        every = (line.starts for lines in self.templates.values() for line in lines)
        starts = max(every, key=len, default=())
        for line in text.strip("\n").splitlines():
            yield from folded(line, starts, self.width)

    def cell(self, name: str, how: str = "") -> Cell:
        """Return the function that formats a figure or key for several rows.

        how  format that pads the text, without the unit of the figure that follows it
        """
        key = _KEYS.get(name)
        shown = (lambda rows: [*map(key, rows)]) if key else _shown(self.figures[name])
        suffix = self._unit(name)
        if not how and not suffix:
            return shown

        def padded(rows: Sequence[Row]) -> list[str]:
            return [format(text, how) + ("" if text == ABSENT else suffix) for text in shown(rows)]

        return padded

    def _unit(self, name: str) -> str:
        return "" if name in _KEYS else self.figures[name].suffix

    def _line(self, text: str) -> Line:
        conditions = []
        while found := _CONDITION.match(text):
            conditions.append(found[1])
            text = text[found.end() :]
        pattern, names, cells, starts = "", [], [], []
        at: int | None = 0
        for literal, name, how, _ in Formatter().parse(text):
            pattern += literal.replace("%", "%%")
            if name is not None:
                if at is not None:
                    starts.append(at + _label(literal))
                    at += len(literal)
                    size = _SIZE.search(how or "")
                    at = at + int(size[1]) + len(self._unit(name)) if size else None
                width = "" if self._unit(name) else _WIDTH.fullmatch(how or "")
                pattern += f"%{'-' * (width[1] != '>')}{width[2]}s" if width else "%s"
                names.append(name)
                cells.append(self.cell(name, "" if width else how or ""))
        numbers = [n for n in names if n in self.figures and self.figures[n].style in NUMBERS]
        return Line(
            [numbers if each == _ANY_NUMBER else [each] for each in conditions],
            names,
            pattern,
            cells,
            starts,
        )


def _label(literal: str) -> int:
    """Return the start of the label of a figure in `literal`: after the last comma and blanks."""
    own = literal.rpartition(",")[2]
    return len(literal) - len(own.lstrip(" |"))


def _is_there(value: Any) -> bool:
    return value is not None and value is not False and value != ""


def _fill(
    templates: Iterable[Line], found: Sequence[tuple[Row, list[str]]], width: int | None
) -> None:
    """Append the lines of each row, folded if wider than `width`, to the list paired with it."""
    rows = [row for row, _ in found]
    for _, _, pattern, cells, starts in templates:
        words = zip(*[cell(rows) for cell in cells], strict=True) if cells else repeat(())
        for (_, lines), each in zip(found, words, strict=False):
            text = (pattern % each).rstrip()
            if width is None or len(text) <= width:
                lines.append(text)
            else:
                lines += folded(text, starts, width)


def folded(text: str, starts: Sequence[int], width: int | None) -> Iterator[str]:
    """Yield a line in pieces of at most `width` characters; None: no maximum.

    starts  positions of columns, where the line is cut; if none fits, it is cut at a blank
    """
    begin = indent = 0
    while width is not None and len(text) - begin + indent > width:
        room = begin + width - indent
        at = max((each for each in starts if begin < each <= room), default=begin)
        if at == begin or not text[at - 1].isspace():
            at = text.rfind(" ", begin + 1, room + 1) + 1 or room
        yield f"{' ' * indent}{text[begin:at].rstrip()}"
        begin, indent = at, _INDENT
    yield f"{' ' * indent}{text[begin:]}"


def _shown(figure: Figure) -> Cell:
    name, absent, show = figure.name, figure.absent, STYLES[figure.style][0]

    def shown(rows: Sequence[Row]) -> list[str]:
        values = [row[name] for row in rows]
        if figure.style in MOMENTS:
            values = [*map(local, rows, values)]
        return [absent if value is None else show(value) for value in values]

    return shown


def _vrm(row: Row) -> str:
    """Return the release as MP1B prints it: 930, and 100000 for MQ 10."""
    if row["mq_version"] is None:
        return ABSENT
    parts = version_key(row["mq_version"])
    if parts[0] < 10:
        return "".join(map(str, parts))
    return "".join(f"{part:02}" for part in parts)


def _instant(style: str, name: str) -> Callable[[Row], str]:
    show = STYLES[style][0]

    def shown(row: Row) -> str:
        moment = local(row, row[name])
        return ABSENT if moment is None else show(moment)

    return shown


_KEYS: Mapping[str, Callable[[Row], str]] = {
    "system": lambda row: visible(row.get("system") or ABSENT),
    "qmgr": lambda row: visible(row.get("qmgr") or ABSENT),
    "date": _instant("date", "smf_time"),
    "time": _instant("clock", "smf_time"),
    "vrm": _vrm,
    "start": _instant("second", "interval_start"),
    "end": _instant("second", "interval_end"),
}
"""The function for the text of each key in TEMPLATE_KEYS."""


def keys_of(row: Row) -> dict[str, str]:
    """Return the texts of TEMPLATE_KEYS for the section of a row."""
    return {name: shown(row) for name, shown in _KEYS.items()}


def local(row: Row, moment: dt.datetime | None) -> dt.datetime | None:
    """Return a moment as local time of the zone CLOCK, otherwise of the section's system.

    A moment without a zone is already local. At the start of a section, START_OFFSET applies.
    """
    if moment is None or moment.tzinfo is None:
        return moment
    clock, offset = row.get(CLOCK), row[OFFSET]
    if clock:
        offset = clock.offset(_microseconds(moment))
    elif moment == row["interval_start"]:
        offset = row.get(START_OFFSET, offset)
    return None if offset is None else moment.astimezone(_zone(offset))


def with_offset(row: Row, moment: dt.datetime) -> dt.datetime:
    """Return a local time with its offset from UTC, if known; other moments are unchanged."""
    offset = row["utc_offset"]
    if moment.tzinfo is not None or offset is None:
        return moment
    return moment.replace(tzinfo=_zone(offset))


def _microseconds(moment: dt.datetime) -> int:
    return (moment - _EPOCH) // dt.timedelta(microseconds=1)


@cache
def _zone(seconds: int) -> dt.timezone:
    return dt.timezone(dt.timedelta(seconds=seconds))


def interval_line(which: Report, row: Row) -> str:
    """Return the line with the start, end and length of a section.

    Seconds are truncated in reports that MP1B has, as in MP1B, and rounded in other reports.
    """
    start, end = local(row, row["interval_start"]), local(row, row["interval_end"])
    seconds = row["interval_seconds"]
    version = row["mq_version"]
    whole = version is None or version_key(version) >= WHOLE_SECONDS_SINCE
    if start is None or end is None:
        return f"From {ABSENT} to {ABSENT}, duration {ABSENT} seconds."
    first, last = (STYLES["second" if whole else "instant"][0](each) for each in (start, end))
    if clock := row.get(CLOCK):
        last = f"{last} {clock.name}"
    if whole:
        duration = _whole(seconds, math.trunc if which.dd else round)
        return f"From {first} to {last}, duration {duration} seconds."
    return f"From {first} to {last} duration {seconds:.6f} seconds"


def _whole(seconds: float, to_whole: Callable[[float], int]) -> str:
    """Return seconds as a whole number; below 1 second, with decimals."""
    if 0 < seconds < 1:
        return f"{seconds:.2f}" if seconds >= 0.005 else f"{seconds:.6f}"
    return str(to_whole(seconds))


def text(
    which: Report,
    rows: Iterable[Row],
    left_out: Collection[str] = (),
    width: int | None = None,
    *,
    zeros: bool = False,
) -> Iterator[str]:
    """Yield the lines of the report as MP1B prints it, with an empty line between sections.

    width, zeros  as in `Printer`
    """
    printer = Printer(which, left_out, width, zeros=zeros)
    before: Row | None = None
    is_empty = False
    yield from printer.top(which.top)
    for some in some_at_a_time(rows, _AT_ONCE):
        for row, lines in zip(some, printer.lines(some), strict=True):
            if before is None or row["section"] != before["section"]:
                if is_empty:
                    yield _ALL_ZERO
                if before is not None and which.header:
                    yield ""
                before, is_empty = None, which.header
                yield from _beginning(which, printer, row)
            yield from printer.heading(row, before)
            yield from lines
            before, is_empty = row, is_empty and not lines
    if is_empty:
        yield _ALL_ZERO
    if before is None:
        yield which.title


def _beginning(which: Report, printer: Printer, row: Row) -> Iterator[str]:
    if which.header and not which.across:
        yield "{system},{qmgr},{date},{time},VRM:{vrm},".format_map(keys_of(row))
    if which.header:
        yield interval_line(which, row)
        if row["marks"]:
            yield from folded(f"Marked {row['marks']}", (), printer.width)
    yield from printer.top(which.heading)
