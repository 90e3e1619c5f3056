"""The format CSV: the tables of a result, separated by empty lines."""

from __future__ import annotations

import csv
import datetime as dt
import io
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from smfparse.rendering.document import Cells, Column, Document, Frames, Table, Values
from smfparse.rendering.figures import (
    FORMULA_START,
    GROUPED,
    HIDDEN,
    STYLES,
    guarded,
    is_plain,
    visible,
)

if TYPE_CHECKING:
    import polars as pl


_SUSPECT = f"{FORMULA_START}|{HIDDEN}"
"""Regular expression that matches every text that `guarded` or `visible` can change."""
_MOMENT = "%Y-%m-%d %H:%M:%S%.6f"
"""The format of `csv_moment` for polars."""


def csv_moment(value: dt.datetime) -> str:
    """Return a moment in the CSV form, which spreadsheets recognise: 2026-03-04 09:16:20.491298.

    A zone is not shown.
    """
    return value.replace(tzinfo=None).isoformat(" ", "microseconds")


def lines(document: Document) -> Iterator[str]:
    r"""Yield a header and one line per row of each table; for frames, an item contains many lines.

    No cell starts a formula, and each row is one line: a line end in a text is shown as \x0a.
    """
    for number, table in enumerate(document.tables()):
        if number:
            yield ""
        if isinstance(table, Frames):
            yield from _of_frames(table)
        else:
            yield from _of_texts(texts_of(table) if isinstance(table, Values) else table)


def texts_of(table: Values) -> Table:
    """Return a table of values as texts: absent values are empty; numbers have no separators."""
    styles = [style for _, style in table.columns]
    rows = (
        [
            "" if value is None else _text(value, style)
            for value, style in zip(row, styles, strict=True)
        ]
        for row in table.rows
    )
    return Table([Column(heading) for heading, _ in table.columns], rows)


def _text(value: Any, style: str) -> str:
    if isinstance(value, dt.datetime):
        return csv_moment(value)
    if not style or isinstance(value, dt.date | dt.time):
        return str(value)
    return str(math.trunc(value)) if style in GROUPED else STYLES[style][0](value)


def _of_texts(table: Table) -> Iterator[str]:
    yield _line([column.heading for column in table.columns])
    yield from map(_line, table.rows)


def _line(cells: Cells) -> str:
    seen = cells if is_plain("".join(cells)) else map(visible, cells)
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow([guarded(cell) for cell in seen])
    return line.getvalue()


def _of_frames(table: Frames) -> Iterator[str]:
    for number, frame in enumerate(table.frames):
        if number == 0 or frame.height:
            yield of_frame(frame, header=number == 0).removesuffix("\n")


def of_frame(frame: pl.DataFrame, *, header: bool = True) -> str:
    """Return rows as CSV, with or without the names of columns; no cell starts a formula.

    Moments have the form of `csv_moment`.
    """
    from smfparse.rendering.shown import changed

    safe = changed(frame, _SUSPECT, lambda text: guarded(visible(text)))
    rows = safe.write_csv(include_header=False, datetime_format=_MOMENT)
    return f"{_line(frame.columns)}\n{rows}" if header else rows
