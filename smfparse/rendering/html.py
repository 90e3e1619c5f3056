"""The format HTML: one page that needs nothing else, with a table for each of a result."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence

from smfparse.rendering.document import Cells, Column, Document, Section, Table
from smfparse.rendering.guard import cell_lines, visible

_STYLE = """\
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem; color: #1b1f24; background: #fff; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2.2rem; }
table { border-collapse: collapse; margin: 1rem 0; font-size: 13px; }
caption { text-align: left; font-weight: 600; padding: .3rem 0; }
th, td { border-bottom: 1px solid #d5d9de; padding: .2rem .6rem; text-align: left;
  vertical-align: top; }
th { border-bottom: 2px solid #8a929c; vertical-align: bottom; }
tbody tr:nth-child(even) { background: #f5f7f9; }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }"""


def lines(document: Document) -> Iterator[str]:
    """Yield the lines of a page; nothing where a document has no section."""
    sections = document.sections()
    first = next(sections, None)
    if first is None:
        return
    title = escaped(document.title)
    yield from (
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{title}</title>",
        f"<style>\n{_STYLE}\n</style>",
        "</head>",
        "<body>",
        f"<h1>{title}</h1>",
    )
    yield from _section(first)
    for section in sections:
        yield from _section(section)
    yield from ("</body>", "</html>")


def _section(section: Section) -> Iterator[str]:
    yield "<section>"
    if section.title:
        yield f"<h2>{escaped(section.title)}</h2>"
    for note in section.notes:
        yield f"<p>{escaped(note)}</p>"
    yield from section.drawing
    for table in section.tables:
        yield from _table(table)
    yield "</section>"


def _table(table: Table) -> Iterator[str]:
    yield "<table>"
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
    return f'<{name} class="n">' if column.right else f"<{name}>"


def _row(tags: Sequence[str], cells: Cells, end: str) -> str:
    found = (
        f"{tag}{cell_lines(cell, escaped)}{end}" for tag, cell in zip(tags, cells, strict=True)
    )
    return f"<tr>{''.join(found)}</tr>"


def escaped(text: str) -> str:
    """Return a text of one line that means nothing but itself."""
    return html.escape(visible(text))
