"""The format Markdown: headings and tables in GitHub's form."""

from __future__ import annotations

import re
from collections.abc import Iterator

from smfparse.rendering.document import Cells, Document, Section, Table
from smfparse.rendering.figures import cell_lines, visible

_MARKUP = re.compile(r"[\\`*<>|&~$\[\]]|(?<![^\W_])_|_(?![^\W_])")
"""Regular expression for characters with a meaning in Markdown, except _ inside a word."""


def lines(document: Document) -> Iterator[str]:
    """Yield the lines of a document: a heading, its sections, their tables."""
    for number, section in enumerate(document.sections()):
        if number == 0:
            yield f"# {escaped(document.title)}"
        yield from _section(section)


def _section(section: Section) -> Iterator[str]:
    if section.title:
        yield from ("", f"## {escaped(section.title)}")
    for note in section.notes:
        yield from ("", escaped(note))
    for table in section.tables:
        yield from _table(table)


def _table(table: Table) -> Iterator[str]:
    yield ""
    if table.caption:
        yield from (f"**{escaped(table.caption)}**", "")
    yield _line([column.heading for column in table.columns])
    yield "|".join(["", *("--:" if column.right else "---" for column in table.columns), ""])
    yield from map(_line, table.rows)


def _line(cells: Cells) -> str:
    return f"| {' | '.join(cell_lines(cell, escaped) for cell in cells)} |"


def escaped(text: str) -> str:
    """Return a text of one line, with special characters escaped."""
    return _MARKUP.sub(r"\\\g<0>", visible(text))
