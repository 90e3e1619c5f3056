"""smfparse describe: what a table, view or column is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from smfparse.cli.output import write_lines

if TYPE_CHECKING:
    from smfparse.layout import Field
    from smfparse.tables import TableColumn

_HEADER = ("Column", "Type", "Unit", "Since", "Field", "Meaning")
_VIEW_HEADER = ("Column", "Type", "Unit", "Meaning", "Formula")


@click.command("describe")
@click.argument("name", required=False)
def command(name: str | None) -> None:
    """List tables and views; or the columns of the one NAME; or what the column or field NAME is.

    NAME is a table, a view, a control block, a column or a field, in any case: QJST, api_cost,
    qjstwrw; a column's table may stand before it: wqst.putn. The
    formula of a column of a view is in IBM's names of fields and in other columns. The field of a
    column is given as block+offset (hex) and IBM's name; a version word instead of a version in
    Since (wqver 5) means that the block has to say so.

    \b
    Example:
      smfparse describe
      smfparse describe QJST
      smfparse describe api_cost
      smfparse describe qjstwrw
    """
    write_lines(lines(name), None, force=False)


def lines(name: str | None) -> Iterator[str]:
    """Return what there is to say of a name; None: of all tables. RequestError for a miss."""
    from smfparse.errors import RequestError
    from smfparse.tables import dictionary as columns
    from smfparse.tables import views

    if name is None:
        return _list()
    if name.lower() in columns.table_names():
        return _table(name.lower())
    if name.lower() in views.view_names():
        return _view(name.lower())
    if found := views.columns_meant(name):
        return _fields(found)
    if mapped := columns.fields_named(name):
        return _mapped(mapped)
    near = columns.near_names(name, views.view_names()) if name else []
    way_out = f"near: {', '.join(near)}" if near else "see smfparse describe"
    raise RequestError(f"no table, view or column {name}; {way_out}")


def _list() -> Iterator[str]:
    """List tables, then views."""
    from smfparse.tables import dictionary as columns
    from smfparse.tables import views

    tables = [(each, columns.columns(each), columns.title(each)) for each in columns.table_names()]
    found = [(each.name, each.columns, each.title) for each in map(views.view, views.view_names())]
    width = max(len(name) for name, _, _ in (*tables, *found))
    for name, held, title in (*tables, *found):
        yield f"{name:<{width}}  {len(held):>4} columns  {title}"


def _table(name: str) -> Iterator[str]:
    from smfparse.tables import dictionary as columns

    yield f"{name}: {columns.title(name)}"
    yield ""
    yield from _aligned([_HEADER, *(_cells(each) for each in columns.columns(name))])


def _view(name: str) -> Iterator[str]:
    from smfparse.tables import views

    which = views.view(name)
    yield f"{name}: {which.title}. A view of {', '.join(which.tables)}"
    yield ""
    cells = [(c.name, c.arrow, c.unit or "", c.doc, c.place) for c in which.columns]
    yield from _aligned([_VIEW_HEADER, *cells])


def _aligned(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Yield rows of cells as lines, the cells of a column below each other."""
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _cells(column: TableColumn) -> tuple[str, ...]:
    return (
        column.name,
        column.arrow,
        column.unit or "",
        column.since,
        column.place,
        column.doc,
    )


def _mapped(found: list[tuple[str, Field]]) -> Iterator[str]:
    """Show fields of blocks that are no tables, and fields that are no columns."""
    for block, field in found:
        yield f"{block}+{field.offset:04X} {field.name}: {field.doc}"
        width = f"{field.kind.width} bytes" + (f", {field.count} times" if field.count > 1 else "")
        facts = {"kind": field.kind.fact, "width": width, "unit": field.kind.unit}
        for name, value in facts.items():
            if value:
                yield f"    {name:<16}{value}"


def _fields(found: list[tuple[str, TableColumn]]) -> Iterator[str]:
    from smfparse.tables import dictionary as columns

    for table, column in found:
        yield f"{table}.{column.name}: {column.doc}"
        facts = {"type": column.arrow, "unit": column.unit}
        if table in columns.table_names():
            facts["since"] = column.since or "all versions"
            facts["field"] = column.place
            facts["over intervals"] = str(column.combine)
        else:
            facts["formula"] = column.place
        for name, value in facts.items():
            if value:
                yield f"    {name:<16}{value}"
