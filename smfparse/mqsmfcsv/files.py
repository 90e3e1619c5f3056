"""Tables of inputs as the files of mq-smf-csv, written batch by batch."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import polars as pl
import pyarrow as pa

from smfparse.errors import InputError, RequestError
from smfparse.inputs.opening import Inputs
from smfparse.mqsmfcsv.beside import Beside
from smfparse.mqsmfcsv.declared import Group, Sheet, sheets
from smfparse.mqsmfcsv.lines import all_pieces, heading, lines
from smfparse.mqsmfcsv.styles import STYLES, Style
from smfparse.store.folder import Folder
from smfparse.store.targets import PARTIAL
from smfparse.tables.arrow import Batch
from smfparse.writing.files import write_set

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
    """Write the files of mq-smf-csv that have rows, and their DDL; return the rows of each.

    style   one of STYLES
    tables  our tables whose files are written; empty: all tables

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
    """Writes one file, which is created for its first row; `rows` counts its rows."""

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
        """End the file."""
        if self._file is not None:
            self._file.close()


def _frame(batch: Batch) -> pl.DataFrame:
    """Return rows with plain texts, as in rows of datasets, so that both can be joined."""
    frame = pl.DataFrame(pa.Table.from_batches([batch]))
    return frame.with_columns(pl.col(pl.Categorical).cast(pl.String))


def _beside(inputs: Inputs, sheet: Sheet, group: Group) -> Beside:
    """Return the rows of a repeated group; their damage is not logged again."""
    alone = replace(inputs.by_one_process(), log=inputs.log.anew())
    fields = frozenset().union(*(each.fields for each in sheet.groups if each.table == group.table))
    return Beside(_frame(batch) for _, batch in alone.batches({group.table: fields}))
