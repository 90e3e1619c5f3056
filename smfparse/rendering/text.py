"""The format text: the special printed form of a result, or its sections with aligned tables.

For a terminal, lines that match a mark of the document are coloured.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

from smfparse.rendering.document import Cells, Column, Document
from smfparse.rendering.figures import is_plain, visible

HEAD, WORST, BAD, GOOD, FAINT = "1", "1;31", "33", "36", "2"
"""Bold, bold red, yellow, cyan, faint: numbers of styles that every terminal supports."""


class Mark(NamedTuple):
    """The coloured part of a line.

    pattern  a regular expression at the start of the line
    colour   the colour of the matching text
    """

    pattern: str
    colour: str


FINDINGS = (
    Mark(r" *SEV1 (?=[A-Z][A-Z0-9-]* ).*", WORST),
    Mark(r" *SEV2 (?=[A-Z][A-Z0-9-]* ).*", BAD),
    Mark(r" *SEV[345] (?=[A-Z][A-Z0-9-]* ).*", GOOD),
)
"""Marks of lines that begin with the severity and the rule of a finding."""
HEADLINE = Mark(r"\S{1,4}(?: on \S{1,4})?, (?:MQ|\d{4}/|\d+ days? ).*", HEAD)
"""Mark of a line that begins with the queue manager, followed by version, time or days."""


def coloured(lines: Iterable[str], marks: Sequence[Mark]) -> Iterator[str]:
    """Colour lines without control characters, each by the first mark that matches it."""
    known = [(re.compile(each.pattern), each.colour) for each in marks]
    for line in lines:
        for pattern, colour in known:
            if (found := pattern.match(line)) and found[0]:
                yield f"\x1b[{colour}m{found[0]}\x1b[0m{line[found.end() :]}"
                break
        else:
            yield line


_AT_ONCE = 64
"""Number of lines that are checked in one step."""


def lines(document: Document) -> Iterator[str]:
    """Yield the lines of a document, without control characters."""
    own = document.printed()
    for some in some_at_a_time(_sections(document) if own is None else own, _AT_ONCE):
        yield from some if is_plain("".join(some)) else map(visible, some)


def _sections(document: Document) -> Iterator[str]:
    before: list[str] = []
    for section in document.sections():
        if section.title:
            yield from (*before, section.title)
            before = [""]
        for note in section.notes:
            yield note
            before = [""]
        for table in section.tables:
            yield from before
            yield from aligned(table.columns, table.rows)
            before = [""]


def aligned(
    columns: Sequence[Column], rows: Iterable[Cells], *, heading: bool = True
) -> Iterator[str]:
    """Yield a heading line, then one line per row; all rows are read first, to align columns."""
    headings = [[each.heading for each in columns]] if heading else []
    lines = [[*map(visible, cells)] for cells in (*headings, *rows)]
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    for line in lines:
        cells = (
            cell.rjust(width) if column.right else cell.ljust(width)
            for cell, width, column in zip(line, widths, columns, strict=True)
        )
        yield "  ".join(cells).rstrip()


Each = TypeVar("Each")


def some_at_a_time(items: Iterable[Each], most: int) -> Iterator[list[Each]]:
    """Yield lists of `most` items, and a last list of fewer; also before an error is raised."""
    some: list[Each] = []
    try:
        for each in items:
            some.append(each)
            if len(some) == most:
                yield some
                some = []
    except (Exception, KeyboardInterrupt):
        yield some
        raise
    yield some
