"""Colours for a terminal: lines that match a mark of the document are coloured."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

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
"""Lines that begin with the severity of a finding and its rule."""
HEADLINE = Mark(r"\S{1,4}(?: on \S{1,4})?, (?:MQ|\d{4}/|\d+ days? ).*", HEAD)
"""A line with the queue manager and the time."""


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
