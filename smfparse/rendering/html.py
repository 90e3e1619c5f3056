"""The format HTML: a page without external parts, with the tables of a result."""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import chain
from pathlib import Path

from smfparse.rendering.document import Cells, Column, Document, Section, Table
from smfparse.rendering.figures import cell_lines, visible
from smfparse.rendering.text import lines as text_lines

_ASSETS = Path(__file__).with_name("assets")
TABLES = _ASSETS / "tables.js"
"""Script that sorts, filters and saves the tables of class `data` in a page."""
BASE = _ASSETS / "base.css"
"""Style of all pages: light and dark colours, tables and buttons."""
DOCUMENT = _ASSETS / "document.css"
"""Style of a page of sections with tables."""


def escaped(text: str) -> str:
    """Return a text of one line, with special characters escaped."""
    return html.escape(visible(text))


@cache
def joined(files: tuple[Path, ...]) -> str:
    """Return the contents of several files, for use in a page."""
    return "\n".join(each.read_text("utf-8").strip() for each in files)


def head_lines(title: str, script: str, style: str) -> Iterator[str]:
    """Yield the lines of a page before its body.

    script  the script in the body
    style   the style in the head
    """
    yield from (
        "<!DOCTYPE html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy(script, style)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="referrer" content="no-referrer">',
        f"<title>{escaped(title)}</title>",
        f"<style>{style}</style>",
        "</head>",
        "<body>",
    )


def policy(script: str, style: str) -> str:
    """Return a content security policy that allows only this script and style, and no network."""
    return (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


_NOTEBOOK = """\
.smfparse table { border-collapse: collapse; font-size: 13px; }
.smfparse caption { text-align: left; font-weight: 600; }
.smfparse th, .smfparse td { text-align: left; vertical-align: top; padding: 2px 8px; }
.smfparse .n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }"""


def lines(document: Document) -> Iterator[str]:
    """Yield the lines of a page; no lines for a document without a section."""
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
    """Yield the lines of a part of a page for notebooks, without a script."""
    yield f'<style>{_NOTEBOOK}</style><div class="smfparse"><h3>{escaped(document.title)}</h3>'
    for section in document.sections():
        yield from section_lines(section, 4)
    yield "</div>"


def section_lines(section: Section, level: int = 2) -> Iterator[str]:
    """Yield the lines of a section; `level` is the level of its heading."""
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


def notebook_html(document: Document) -> str:
    """Return a document as notebooks show it: tables without any script."""
    return "\n".join(part_lines(document))


class Shown:
    """A result that is displayed as on the command line.

    made  function that returns a new document of the result; a document can be read only once
    """

    def __init__(self, made: Callable[[], Document]) -> None:
        self._made = made

    def __repr__(self) -> str:
        return "\n".join(text_lines(self._made()))

    def _repr_html_(self) -> str:
        return notebook_html(self._made())
