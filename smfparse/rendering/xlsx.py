"""The format Excel: a workbook with a sheet for each table, and an index of the sheets.

Cells contain numbers, dates and times in Excel's types. A text never becomes a formula, a link or a
number. A table with more rows than a sheet can contain is on several sheets.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import chain, islice
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

from smfparse.errors import OutputError, RequestError, install_command
from smfparse.rendering.document import Document, Frames, Table, Values
from smfparse.rendering.figures import guarded, visible

_MOST_ROWS = 1_048_576
"""Maximum number of rows of a sheet, including the headings."""
_MOST_COLUMNS = 16_384
_MOST_TEXT = 32_767
"""Maximum number of characters of a cell."""
_EXACT = 10**15
"""Least whole number that is written as a text: Excel keeps only 15 digits of a number."""
_FIRST_DAY = "1900-03-01"
"""First date that is written as a date: Excel counts the invalid date 1900-02-29 before it."""
_MOST_NAME = 31
"""Maximum number of characters of the name of a sheet."""
_NOT_IN_NAMES = re.compile(r"[\[\]:*?/\\\U00010000-\U0010ffff]")
"""Characters that Excel does not allow in a sheet name, and characters that it counts twice."""
_INDEX = "Index"
_QUOTED = "quoted"
"""Format of a text that looks like a formula: it stays a text, even if a user edits it."""
_WIDEST, _NARROWEST, _HEADING = 60, 8, 18
"""Widths of columns in characters: maximum, minimum, and maximum for a long heading."""
_MEASURED = 200
"""Number of rows from which the width of columns is derived."""
_SHOWN = {
    **dict.fromkeys(("count", "truncated", "rounded"), "0"),
    **dict.fromkeys(("grouped", "size", "megabytes"), "#,##0"),
    "tenths": "0.0",
    "decimal": "0.000",
    "micro": "0.000000",
    "percent": "0.00",
    "hour": "yyyy-mm-dd hh:mm",
    "second": "yyyy-mm-dd hh:mm:ss",
    "moment": "yyyy-mm-dd hh:mm:ss",
    "instant": "yyyy-mm-dd hh:mm:ss.000",
    "date": "yyyy-mm-dd",
    "clock": "hh:mm:ss",
}
"""Excel's formats for the styles of figures, and for moments in columns without a style."""
_DECIMALS = {"tenths": 2, "percent": 3, "decimal": 4, "micro": 7, "": 4}
"""Approximate number of characters for the decimal point and decimals, by style."""
_OPTIONS = {"constant_memory": True, "remove_timezone": True}
"""Options of XlsxWriter: write rows to disk as they arrive, and write UTC times without a zone."""
_WHOLE = ("truncated", "grouped")
"""Styles that truncate decimals in every format."""


def write_workbook(
    documents: Iterable[Document], file: BinaryIO, *, index: bool = False
) -> list[str]:
    """Write the tables of documents as a workbook; return messages about data that did not fit.

    index  whether the first sheet lists name, content and number of rows of all other sheets

    Raises RequestError if XlsxWriter is not installed, OutputError if a table is too wide or the
    workbook cannot be written.
    """
    try:
        import xlsxwriter
        from xlsxwriter.exceptions import XlsxWriterException
    except ImportError:
        raise RequestError(
            f"a workbook requires XlsxWriter: {install_command('XlsxWriter')}; CSV does not"
        ) from None
    with TemporaryDirectory() as folder:
        book = xlsxwriter.Workbook(file, _OPTIONS | {"tmpdir": folder})
        book.use_zip64()
        made = _Workbook(book)
        listing = made.new_sheet(_INDEX) if index else None
        try:
            for document in documents:
                for table in document.tables():
                    made.add(_values(table, document.title), document.title)
            if listing is not None:
                made.list_on(listing)
            book.close()
        except XlsxWriterException as error:
            raise OutputError(f"the workbook cannot be written: {error}") from error
        finally:
            for sheet in book.worksheets():
                sheet.row_data_fh.close()
    return made.messages


def _values(table: Table | Frames | Values, title: str) -> Values:
    if isinstance(table, Frames):
        return _of_frames(table, title)
    if isinstance(table, Table):
        columns = [(column.heading, "") for column in table.columns]
        return Values(table.caption or title, columns, table.rows)
    return table


def _of_frames(table: Frames, title: str) -> Values:
    first = next(table.frames)

    def rows() -> Iterator[Sequence[Any]]:
        yield from first.iter_rows()
        for frame in table.frames:
            yield from frame.iter_rows()

    return Values(title, [(name, "") for name in first.columns], rows())


class _Workbook:
    """A workbook of XlsxWriter that is filled table by table.

    messages  messages about data that did not fit
    """

    def __init__(self, book: Any) -> None:
        self.messages: list[str] = []
        self._listed: list[tuple[str, str, int]] = []
        self._book = book
        self._taken = {"history"}  # Excel reserves this name
        self._heading = book.add_format({"bold": True, "text_wrap": True, "bottom": 1})
        self._formats = {
            style: book.add_format({"num_format": shown}) for style, shown in _SHOWN.items()
        } | {_QUOTED: book.add_format({"quote_prefix": True})}

    def new_sheet(self, name: str) -> Any:
        """Return a new sheet with this name, or with a similar name if the name is used."""
        return self._book.add_worksheet(sheet_name(name, self._taken))

    def list_on(self, sheet: Any) -> None:
        """List the written sheets on `sheet`, the first sheet."""
        rows = [("Sheet", "Content", "Rows"), *self._listed]
        for number, row in enumerate(rows):
            for column, value in enumerate(row):
                if number and column == len(row) - 1:
                    sheet.write_number(number, column, value)
                else:
                    sheet.write_string(
                        number, column, str(value), None if number else self._heading
                    )
        sheet.freeze_panes(1, 0)
        for column, row in enumerate(zip(*rows, strict=True)):
            sheet.set_column(column, column, max(len(str(each)) for each in row) + 2)

    def add(self, table: Values, title: str) -> None:
        """Write a table on a sheet, or on several sheets if the table has too many rows.

        title  description of the table, for the index
        """
        if len(table.columns) > _MOST_COLUMNS:
            raise OutputError(
                f"{table.name}: {len(table.columns):,} columns, but an Excel sheet has "
                f"at most {_MOST_COLUMNS:,}; choose another format"
            )
        rows = iter(table.rows)
        cut = [self._sheet(table, rows, title)]
        cut += [self._sheet(table, chain([first], rows), title) for first in rows]
        if len(cut) > 1:
            self.messages.append(
                f"{table.name}: the rows are on {len(cut)} sheets, because an Excel sheet "
                f"has at most {_MOST_ROWS:,}"
            )
        if sum(cut):
            self.messages.append(
                f"{table.name}: {sum(cut):,} texts were truncated after {_MOST_TEXT:,} characters, "
                "the limit of an Excel cell"
            )

    def _sheet(self, table: Values, rows: Iterator[Sequence[Any]], title: str) -> int:
        """Write the rows that fit on a new sheet; return the number of truncated texts."""
        sheet = self.new_sheet(table.name)
        written = _Sheet(sheet, self._formats, [style for _, style in table.columns])
        for number, (heading, _) in enumerate(table.columns):
            sheet.write_string(0, number, visible(heading)[:_MOST_TEXT], self._heading)
        line = 0
        for line, row in enumerate(islice(rows, _MOST_ROWS - 1), 1):
            written.add(line, row)
        self._listed.append((sheet.get_name(), visible(title), line))
        sheet.freeze_panes(1, 0)
        sheet.repeat_rows(0)
        sheet.set_landscape()
        if table.columns:
            sheet.autofilter(0, 0, line, len(table.columns) - 1)
        for number, (heading, _) in enumerate(table.columns):
            width = max(written.widths[number], min(len(heading), _HEADING), _NARROWEST)
            sheet.set_column(number, number, min(width + 2, _WIDEST))
        return written.cut


class _Sheet:
    """The rows of a sheet.

    widths  width of the longest cell of each column in the first rows, in characters
    cut     number of truncated texts
    """

    def __init__(self, sheet: Any, formats: Mapping[str, Any], styles: Sequence[str]) -> None:
        self._sheet = sheet
        self._formats = formats
        self._styles = styles
        self.widths = [0] * len(styles)
        self.cut = 0

    def add(self, line: int, row: Sequence[Any]) -> None:
        """Write a row on a line of the sheet; line 0 contains the headings."""
        for number, (value, style) in enumerate(zip(row, self._styles, strict=True)):
            if value is not None and value != "":
                width = self._write(line, number, value, style)
                if line <= _MEASURED:
                    self.widths[number] = max(self.widths[number], width)

    def _write(self, line: int, number: int, value: Any, style: str) -> int:
        if isinstance(value, bool):
            self._sheet.write_boolean(line, number, value)
            return 5
        if isinstance(value, int | float | Decimal):
            exact = _number(value, style)
            if exact is not None:
                self._sheet.write_number(line, number, exact, self._formats.get(style))
                return len(f"{exact:,.0f}") + _DECIMALS.get(style, 0)
        elif isinstance(value, dt.date | dt.time) and _is_in_calendar(value):
            shown = style if style in _SHOWN else _of_kind(value)
            self._sheet.write_datetime(line, number, value, self._formats[shown])
            return len(_SHOWN[shown])
        return self._write_text(line, number, visible(str(value)))

    def _write_text(self, line: int, number: int, text: str) -> int:
        """Write a text; return its length. A text that looks like a formula is marked as a text."""
        form = self._formats[_QUOTED] if guarded(text) != text else None
        self.cut += len(text) > _MOST_TEXT
        self._sheet.write_string(line, number, text[:_MOST_TEXT], form)
        return len(text)


def _number(value: float | Decimal, style: str) -> int | float | None:
    """Return a number for a cell; None: Excel cannot represent the number."""
    if not math.isfinite(value):
        return None
    whole = int(value)
    if whole == value or style in _WHOLE:
        return whole if abs(whole) < _EXACT or isinstance(value, float) else None
    return float(value)


def _is_in_calendar(value: dt.date | dt.time) -> bool:
    return isinstance(value, dt.time) or f"{value:%Y-%m-%d}" >= _FIRST_DAY


def _of_kind(value: dt.date | dt.time) -> str:
    if isinstance(value, dt.datetime):
        return "instant" if value.microsecond else "second"
    return "date" if isinstance(value, dt.date) else "clock"


def sheet_name(name: str, taken: set[str]) -> str:
    """Return a valid sheet name like `name` that is not in `taken`; add it to `taken`."""
    clean = _NOT_IN_NAMES.sub("_", visible(name)).strip(" '") or "Sheet"
    found, number = clean[:_MOST_NAME].rstrip(" '"), 1
    while found.lower() in taken:
        number += 1
        behind = f" ({number})"
        found = f"{clean[: _MOST_NAME - len(behind)].rstrip()}{behind}"
    taken.add(found.lower())
    return found
