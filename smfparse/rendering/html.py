"""The format HTML: one page that needs nothing else, with a table for each of a result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from smfparse.rendering.document import Cells, Column, Document, Section, Table
from smfparse.rendering.guard import cell_lines
from smfparse.rendering.shell import BASE, DOCUMENT, TABLES, escaped, head_lines, joined

_NOTEBOOK = """\
.smfparse table { border-collapse: collapse; font-size: 13px; }
.smfparse caption { text-align: left; font-weight: 600; }
.smfparse th, .smfparse td { text-align: left; vertical-align: top; padding: 2px 8px; }
.smfparse .n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }"""


def lines(document: Document) -> Iterator[str]:
    """Yield the lines of a page; nothing where a document has no section."""
    sections = document.sections()
    first = next(sections, None)
    if first is None:
        return
    script, style = joined((TABLES,)), joined((BASE, DOCUMENT))
    yield from head_lines(document.title, script, style)
    yield f"<h1>{escaped(document.title)}</h1>"
    for section in chain([first], sections):
        yield from section_lines(section)
    yield from (f"<script>{script}</script>", "</body>", "</html>")


def part_lines(document: Document) -> Iterator[str]:
    """Yield a document as a part of a page, as notebooks show it: without any script."""
    yield f'<style>{_NOTEBOOK}</style><div class="smfparse"><h3>{escaped(document.title)}</h3>'
    for section in document.sections():
        yield from section_lines(section, 4)
    yield "</div>"


def section_lines(section: Section, level: int = 2) -> Iterator[str]:
    """Yield the lines of a section; `level` is that of its heading."""
    yield "<section>"
    if section.title:
        yield f"<h{level}>{escaped(section.title)}</h{level}>"
    for note in section.notes:
        yield f"<p>{escaped(note)}</p>"
    yield from section.drawing
    for table in section.tables:
        label = escaped(table.caption or section.title or "Table")
        yield f'<div class="wide" tabindex="0" role="region" aria-label="{label}">'
        yield from _table(table)
        yield "</div>"
    yield "</section>"


def _table(table: Table) -> Iterator[str]:
    yield '<table class="data">'
    if table.caption:
        yield f"<caption>{escaped(table.caption)}</caption>"
    heads, cells = ([_tag(name, column) for column in table.columns] for name in ("th", "td"))
    headings = [column.heading for column in table.columns]
    yield f"<thead>{_row(heads, headings, '</th>')}</thead>"
    yield "<tbody>"
    for row in table.rows:
        yield _row(cells, row, "</td>")
    yield "</tbody>"
    yield "</table>"


def _tag(name: str, column: Column) -> str:
    tag = '<th scope="col"' if name == "th" else f"<{name}"
    return f'{tag} class="n">' if column.right else f"{tag}>"


def _row(tags: Sequence[str], cells: Cells, end: str) -> str:
    found = (
        f"{tag}{cell_lines(cell, escaped)}{end}" for tag, cell in zip(tags, cells, strict=True)
    )
    return f"<tr>{''.join(found)}</tr>"
