"""The sections of a report, for formats with tables: Markdown, HTML.

A section shows the same figures as the text, in one table per kind of line. If a kind of line has
more than WIDE figures, each row of this kind becomes a table with one figure per line.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from typing import NamedTuple

from smfparse.rendering.document import Cells, Column, Section, Table
from smfparse.rendering.figures import MOMENTS
from smfparse.reports.declaration import Report
from smfparse.reports.graph import has_edges, svg_lines
from smfparse.reports.running import Row
from smfparse.reports.sections import TEMPLATE_KEYS
from smfparse.reports.templates import Cell, Printer, interval_line, keys_of

WIDE = 24
"""Maximum number of figures in a row of a table."""
_TEXTS = MOMENTS | {"date", "clock", "text", "flag"}
"""Styles of figures that are not numbers."""
_LISTED = (Column("Figure"), Column("Value", right=True))


class _Kind(NamedTuple):
    """A kind of line, with cell function, heading and `Line.conditions` of each column."""

    caption: str
    cells: Sequence[Cell]
    columns: Sequence[Column]
    conditions: Sequence[Sequence[Sequence[str]]]


def sections(
    which: Report, rows: Iterable[Row], left_out: Collection[str], *, zeros: bool = False
) -> Iterator[Section]:
    """Yield the sections of a report; without rows, one empty section.

    zeros  as in `Printer`
    """
    printer = Printer(which, left_out, zeros=zeros)
    kinds = {line: _kind(which, printer, line) for line in printer.templates}
    empty = True
    for _, found in groupby(rows, lambda row: row["section"] if which.header else None):
        empty = False
        yield _section(which, printer, kinds, found)
    if empty:
        yield Section("")


def _section(
    which: Report, printer: Printer, kinds: Mapping[str, _Kind], rows: Iterator[Row]
) -> Section:
    row = next(rows)
    every: Iterable[Row] = chain([row], rows)
    drawing: Iterable[str] = ()
    if has_edges(which):
        every = list(every)
        drawing = svg_lines(every)
    tables = _tables(printer, kinds, iter(every))
    if not which.header:
        return Section("", tables, drawing=drawing)
    interval = interval_line(which, row)
    marks = [f"Marked {row['marks']}"] if row["marks"] else []
    if which.across:
        return Section(interval, tables, marks, drawing)
    title = "{system} {qmgr} {date} {time} VRM:{vrm}".format_map(keys_of(row))
    return Section(title, tables, [interval, *marks], drawing)


def _kind(which: Report, printer: Printer, line: str) -> _Kind:
    headings = {key: heading for heading, key in which.csv_keys.items()}
    headings |= {name: each.csv or name for name, each in printer.figures.items()}
    block = which.blocks.get(line)
    if block is None:
        shown = _named(printer, line, TEMPLATE_KEYS if which.header and not which.across else ())
        caption = line.capitalize() or which.title
    else:
        shown = {name: () for name, _, _ in printer.columns(block)}
        headings |= {name: heading for name, heading, _ in block.columns}
        caption = " ".join(block.title.split())
    numbers = {name for name, each in printer.figures.items() if each.style not in _TEXTS}
    columns = [Column(headings.get(name, name), name in numbers) for name in shown]
    cells = [printer.cell(name) for name in shown]
    return _Kind(caption, cells, columns, list(shown.values()))


def _named(
    printer: Printer, line: str, known: Collection[str]
) -> dict[str, Sequence[Sequence[str]]]:
    """Return the names in templates and their conditions; names in `known` are omitted."""
    found: dict[str, Sequence[Sequence[str]]] = {}
    for each in printer.templates[line]:
        for name in each.names:
            if name not in known:
                found.setdefault(name, each.conditions)
    return found


def _tables(printer: Printer, kinds: Mapping[str, _Kind], rows: Iterable[Row]) -> Iterator[Table]:
    for line, found in groupby(rows, lambda row: row.get("line") or ""):
        kind = kinds[line]
        if len(kind.cells) > WIDE:
            for row in found:
                yield Table(_LISTED, _listed(printer, kind, row), kind.caption)
        else:
            cells = (_cells(kind, row) for row in found)
            yield Table(kind.columns, cells, kind.caption)


def _cells(kind: _Kind, row: Row) -> Cells:
    return [cell([row])[0] for cell in kind.cells]


def _listed(printer: Printer, kind: _Kind, row: Row) -> Iterator[Cells]:
    cells = _cells(kind, row)
    for column, cell, conditions in zip(kind.columns, cells, kind.conditions, strict=True):
        if printer.holds(conditions, row):
            yield column.heading, cell
