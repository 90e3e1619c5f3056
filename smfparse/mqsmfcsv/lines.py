"""Rows of a table as lines of its file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from smfparse.mqsmfcsv.beside import Beside
from smfparse.mqsmfcsv.declared import KEYS, Cell, Entry, Group, Sheet
from smfparse.mqsmfcsv.forms import Piece, pieces
from smfparse.mqsmfcsv.styles import Style
from smfparse.tables.arrow import plain_schema

_MOST_ROWS = 4096
"""Maximum rows that are formatted together: a file has up to 507 columns."""
_ROW = "row"


def all_pieces(sheet: Sheet, style: Style) -> list[Piece]:
    """Return the columns of a file; a repeated group has columns for every entry."""
    found: list[Piece] = []
    for part in sheet.parts:
        if isinstance(part, Cell):
            found += pieces(part, style)
        else:
            for entry in part.entries:
                found += _of_entry(part, entry, style)
    return found


def heading(sheet: Sheet, style: Style) -> str:
    """Return the first line of a file."""
    return "".join(f"{each.heading}," for each in all_pieces(sheet, style)) + "\n"


def lines(
    sheet: Sheet, style: Style, rows: pl.DataFrame, beside: Mapping[str, Beside]
) -> Iterator[str]:
    """Yield rows as lines of a file, up to _MOST_ROWS at a time.

    beside  the rows of the child tables of the groups in the sheet
    """
    for some in rows.iter_slices(_MOST_ROWS):
        keys = some.select(*KEYS).with_row_index(_ROW) if sheet.groups else some
        entries = {table: beside[table].of(keys) for table in {each.table for each in sheet.groups}}
        spelt: list[pl.Series] = []
        for part in sheet.parts:
            if isinstance(part, Cell):
                spelt += _formatted(some, pieces(part, style))
            else:
                spelt += _group(part, style, some, entries[part.table])
        yield _text(spelt)


def _formatted(rows: pl.DataFrame, found: Sequence[Piece]) -> list[pl.Series]:
    named = [each.value.alias(str(number)) for number, each in enumerate(found)]
    return rows.select(named).get_columns()


def _text(columns: Sequence[pl.Series]) -> str:
    named = [each.alias(str(number)) for number, each in enumerate(columns)]
    end = pl.lit("").alias(str(len(named)))
    whole = pl.DataFrame(named).with_columns(end)
    return whole.write_csv(include_header=False, quote_style="never")


def _of_entry(group: Group, entry: Entry, style: Style) -> Iterator[Piece]:
    for cell in group.cells:
        for piece in pieces(cell, style):
            named = piece.heading.replace("#", entry.label)
            name = piece.name.replace("#", entry.label.replace(".", "_"))
            yield piece._replace(heading=named, name=name)


def _group(
    group: Group, style: Style, rows: pl.DataFrame, entries: pl.DataFrame | None
) -> Iterator[pl.Series]:
    """Yield the columns of a repeated group; cells of blocks without the group are empty."""
    found = [piece for cell in group.cells for piece in pieces(cell, style)]
    zero = _formatted(_zeros(group), found)
    is_held = rows[group.held].is_not_null() if group.held else None
    for entry in group.entries:
        used = None if entries is None else entries.filter(**dict(entry.index))
        columns = [each.new_from_index(0, rows.height) for each in zero]
        if used is not None and used.height:
            for number, values in enumerate(_formatted(used, found)):
                columns[number] = columns[number].scatter(used[_ROW], values)
        for each in columns:
            yield each if is_held is None else _where(is_held, each)


def _where(is_held: pl.Series, values: pl.Series) -> pl.Series:
    return values.zip_with(
        is_held, pl.Series([None], dtype=pl.String).new_from_index(0, len(values))
    )


def _zeros(group: Group) -> pl.DataFrame:
    """Return the row for entries that are not in the child table: numbers are 0, others empty."""
    empty: pl.DataFrame = pl.DataFrame(plain_schema(group.table, group.fields).empty_table())
    zero = {name: "" if kind == pl.String else 0 for name, kind in empty.schema.items()}
    never = {name: None for name, kind in empty.schema.items() if isinstance(kind, pl.Datetime)}
    return pl.DataFrame([zero | never], schema=empty.schema)
