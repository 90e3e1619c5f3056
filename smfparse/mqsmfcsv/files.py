"""Write tables as files of mq-smf-csv, batch by batch.

A table and its child tables are read in parallel, in the same order of blocks. So memory contains
only the rows that are written next.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import polars as pl
import pyarrow as pa

from smfparse.decoding.arrow import Batch, plain_schema
from smfparse.errors import InputError, RequestError
from smfparse.inputs.opening import Inputs
from smfparse.mqsmfcsv.declared import KEYS, Cell, Entry, Group, Sheet, sheets
from smfparse.mqsmfcsv.forms import Piece, pieces
from smfparse.mqsmfcsv.styles import STYLES, Style
from smfparse.store.folder import Folder
from smfparse.store.targets import PARTIAL
from smfparse.writing.writers import write_set


class Beside:
    """The rows of a child table, to be requested in the order of the parent table.

    found  rows of the child table in order, part by part
    """

    def __init__(self, found: Iterable[pl.DataFrame]) -> None:
        self._found = iter(found)
        self._held: pl.DataFrame | None = next(self._found, None)

    @property
    def is_left(self) -> bool:
        """Whether rows remain that were not requested."""
        return self._held is not None

    def of(self, rows: pl.DataFrame) -> pl.DataFrame | None:
        """Return the child rows of the next parent rows, each with `row` of its parent; None: none.

        rows  parent rows, with the columns KEYS and `row` (a number)
        """
        parts = []
        while self._held is not None:
            parts.append(self._held.join(rows, on=KEYS, how="inner"))
            later = self._held.join(rows, on=KEYS, how="anti")
            if later.height:
                self._held = later
                break
            self._held = next(self._found, None)
        parts = [each for each in parts if each.height]
        return pl.concat(parts) if parts else None


_MOST_ROWS = 4096
"""Maximum number of rows formatted together; limits memory, as a file has up to 507 columns."""
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

    beside  rows of the child tables of the groups in the sheet, by name of the table
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
    """Return the row for entries without a row in the child table: 0, empty text, NULL times."""
    empty: pl.DataFrame = pl.DataFrame(plain_schema(group.table, group.fields).empty_table())
    zero = {name: "" if kind == pl.String else 0 for name, kind in empty.schema.items()}
    never = {name: None for name, kind in empty.schema.items() if isinstance(kind, pl.Datetime)}
    return pl.DataFrame([zero | never], schema=empty.schema)


DDL_FILE = "MQTABLES.ddl"
_SCHEMA = "MQSMF"


def ddl(found: Iterable[Sheet], style: Style) -> str:
    """Return the statements that drop and create the tables of files."""
    return "\n".join(_table(each, style) for each in found)


def _table(sheet: Sheet, style: Style) -> str:
    name = f"{_SCHEMA}.{sheet.name}"
    columns = "\n, ".join(f"{each.name} {each.type}" for each in all_pieces(sheet, style))
    indices = "".join(f"CREATE INDEX {each} ON {name}({each});\n" for each in sheet.index)
    return f"DROP TABLE {name};\nCREATE TABLE {name} (\n  {columns}\n);\n{indices}"


def write_sheets(
    inputs: Inputs, folder: Path, style: str, tables: Collection[str] = (), *, force: bool = False
) -> dict[str, int]:
    """Write the files of mq-smf-csv that have rows, and their DDL; return {file: number of rows}.

    style   name of a style in STYLES
    tables  names of our tables whose files are written; empty: all tables

    Raises RequestError if a table in `tables` has no file, and the errors of `write_set`.
    """
    chosen = _chosen(tables)
    rows: dict[str, int] = {}

    def write(place: Folder) -> list[str]:
        with ExitStack() as opened:
            writers = {each.table: _Writer(each, STYLES[style], place) for each in chosen}
            for writer in writers.values():
                opened.callback(writer.close)
            for table, batch in inputs.batches({each.table: each.fields for each in chosen}):
                writers[table].add(batch, inputs)
            for writer in writers.values():
                writer.check()
        written = [each for each in writers.values() if each.rows]
        rows.update((each.sheet.file, each.rows) for each in written)
        if written:
            text = ddl([each.sheet for each in written], STYLES[style])
            with _new_file(place, DDL_FILE) as file:
                file.write(text.encode())
        return [*rows, DDL_FILE] if written else []

    write_set(folder, {DDL_FILE, *(each.file for each in sheets())}, write, force=force)
    return rows


def _chosen(tables: Collection[str]) -> list[Sheet]:
    known = {each.table: each for each in sheets()}
    for name in tables:
        if name not in known:
            raise RequestError(
                f"mq-smf-csv has no file of the table {name}; it has files of {', '.join(known)}"
            )
    return [each for each in sheets() if not tables or each.table in tables]


def _new_file(place: Folder, name: str) -> BinaryIO:
    return os.fdopen(place.create(f"{name}{PARTIAL}"), "wb")


class _Writer:
    """Writes one file, which is created at the first row; `rows`: number of written rows."""

    def __init__(self, sheet: Sheet, style: Style, place: Folder) -> None:
        self.sheet = sheet
        self.rows = 0
        self._style = style
        self._place = place
        self._file: BinaryIO | None = None
        self._beside: dict[str, Beside] = {}

    def add(self, batch: Batch, inputs: Inputs) -> None:
        """Write rows."""
        if self._file is None:
            self._file = _new_file(self._place, self.sheet.file)
            self._beside = {
                each.table: _beside(inputs, self.sheet, each) for each in self.sheet.groups
            }
            if self._style.headings:
                self._file.write(heading(self.sheet, self._style).encode())
        for some in lines(self.sheet, self._style, _frame(batch), self._beside):
            self._file.write(some.encode())
        self.rows += batch.num_rows

    def check(self) -> None:
        """Raise InputError if entries of repeated groups were not in the order of blocks."""
        for table, entries in self._beside.items():
            if entries.is_left:
                raise InputError(
                    f"rows of {table} are in another order than those of {self.sheet.table}; "
                    "convert the SMF files again"
                )

    def close(self) -> None:
        """Close the file, if it was created."""
        if self._file is not None:
            self._file.close()


def _frame(batch: Batch) -> pl.DataFrame:
    """Return rows with texts as strings: rows of two tables can be joined only on equal types."""
    frame = pl.DataFrame(pa.Table.from_batches([batch]))
    return frame.with_columns(pl.col(pl.Categorical).cast(pl.String))


def _beside(inputs: Inputs, sheet: Sheet, group: Group) -> Beside:
    """Return the rows of a group's child table; their damage is not logged a second time."""
    alone = replace(inputs.by_one_process(), log=inputs.log.anew())
    fields = frozenset().union(*(each.fields for each in sheet.groups if each.table == group.table))
    return Beside(_frame(batch) for _, batch in alone.batches({group.table: fields}))
