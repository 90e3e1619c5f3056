"""smfparse describe: what a table or column is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from smfparse.cli.output import write_lines

if TYPE_CHECKING:
    from smfparse.columns import TableColumn
    from smfparse.layout import Field

_HEADER = ("Column", "Type", "Unit", "Since", "Field", "Meaning")


@click.command("describe")
@click.argument("name", required=False)
def command(name: str | None) -> None:
    """List the tables; or the columns of the table NAME; or what the column or field NAME is.

    NAME is a table, a control block or a field, in any case: QJST, wqst_cf, qjstwrw. The field of a
    column is given as block+offset (hex) and IBM's name; a version word instead of a version in
    Since (wqver 5) means that the block has to say so.

    \b
    Example:
      smfparse describe
      smfparse describe QJST
      smfparse describe qjstwrw
    """
    write_lines(lines(name), None, force=False)


def lines(name: str | None) -> Iterator[str]:
    """Return what there is to say of a name; None: of the tables. RequestError for a miss."""
    from smfparse import columns
    from smfparse.errors import RequestError

    if name is None:
        return _tables()
    if name.lower() in columns.table_names():
        return _table(name.lower())
    if found := columns.find(name):
        return _fields(found)
    if mapped := columns.fields(name):
        return _mapped(mapped)
    near = ", ".join(columns.near_names(name)) if name else "see smfparse describe"
    raise RequestError(f"no table or column {name}; near: {near}")


def _tables() -> Iterator[str]:
    from smfparse import columns

    names = columns.table_names()
    width = max(map(len, names))
    for each in names:
        yield f"{each:<{width}}  {len(columns.columns(each)):>4} columns  {columns.title(each)}"


def _table(name: str) -> Iterator[str]:
    from smfparse import columns

    yield f"{name}: {columns.title(name)}"
    yield ""
    rows = [_HEADER, *(_cells(each) for each in columns.columns(name))]
    widths = [max(len(row[position]) for row in rows) for position in range(len(_HEADER))]
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
    for table, column in found:
        yield f"{table}.{column.name}: {column.doc}"
        facts = {
            "type": column.arrow,
            "unit": column.unit,
            "since": column.since or "all versions",
            "field": column.place,
            "over intervals": str(column.combine),
        }
        for name, value in facts.items():
            if value:
                yield f"    {name:<16}{value}"
