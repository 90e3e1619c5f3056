"""The forms of columns: heading, Db2 name, and format of the values.

A column of our table becomes one or two columns of a file: two numbers for a duration, date and
time for a timestamp. A missing value is an empty cell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

import polars as pl

from smfparse.layout.clocks import US_PER_SECOND
from smfparse.layout.kinds import ENCODING
from smfparse.mqsmfcsv.declared import Cell
from smfparse.mqsmfcsv.styles import Style
from smfparse.rendering.figures import HIDDEN, guarded, is_plain

_TIME = "%H:%M:%S,%6f"
_HIDDEN = re.compile(HIDDEN)
_NOT_IN_NAMES = re.compile(r"[^ -~]")
_BETWEEN_WORDS = re.compile(r"[ (){}._]+")
_BIGINT = "BIGINT"


class Piece(NamedTuple):
    """A column of a file.

    heading  name of the column in the file
    name     name of the column in Db2
    type     type of the column in Db2
    value    expression for the cells: text, already quoted where necessary
    """

    heading: str
    name: str
    type: str
    value: pl.Expr


def pieces(cell: Cell, style: Style) -> list[Piece]:
    """Return the columns of a file for a declared column."""
    return FORMS[cell.form](cell, style)


def sql_name(heading: str) -> str:
    """Return the Db2 name of a column: `_` replaces characters that a name cannot contain."""
    return _BETWEEN_WORDS.sub("_", heading).rstrip("_")


def _quoted(value: pl.Expr) -> pl.Expr:
    return pl.format('"{}"', value)


def _formatted(value: pl.Expr, format_one: Callable[[str], str]) -> pl.Expr:
    """Return values as texts; each distinct value is formatted once."""

    def every(values: pl.Series) -> pl.Series:
        known = values.drop_nulls().unique()
        spelt = pl.Series([format_one(each) for each in known], dtype=pl.String)
        return values.replace_strict(known, spelt, return_dtype=pl.String)

    return value.cast(pl.String).map_batches(every, return_dtype=pl.String)


def _field(text: str, width: int, is_guarded: bool) -> str:
    """Return a text as a quoted cell, padded to `width`; a guarded cell never starts a formula."""
    shown = text if is_plain(text) else _HIDDEN.sub(".", text)
    if is_guarded:
        shown = guarded(shown)
    return '"' + shown.ljust(width).replace('"', '""') + '"'


def _number(cell: Cell, style: Style) -> list[Piece]:
    value = pl.col(cell.field)
    if style.most is not None:
        value = pl.when(value <= style.most).then(value)
    return [Piece(cell.heading, sql_name(cell.heading), _BIGINT, value.cast(pl.String))]


def _hexadecimal(cell: Cell, style: Style) -> list[Piece]:
    value = _formatted(pl.col(cell.field), lambda number: f"{int(number):X}")
    return [Piece(cell.heading, sql_name(cell.heading), "CHAR(8)", value)]


def _index(cell: Cell, style: Style) -> list[Piece]:
    value = (pl.col(cell.field) - 1).cast(pl.String)
    return [Piece(cell.heading, sql_name(cell.heading), _BIGINT, value)]


def _whole(cell: Cell) -> pl.Expr:
    return pl.col(cell.field).floor().cast(pl.UInt64)


def _whole_number(cell: Cell, style: Style) -> list[Piece]:
    """Return a number of seconds or microseconds, without a fraction."""
    name = sql_name(cell.heading)
    return [Piece(cell.heading, name, _BIGINT, _whole(cell).cast(pl.String))]


def _elapsed(cell: Cell, style: Style) -> list[Piece]:
    """Return a duration as seconds and remaining microseconds, or as microseconds."""
    whole, name = _whole(cell), sql_name(cell.heading)
    if not style.split:
        return [Piece(f"{cell.heading}(US)", f"{name}_us", _BIGINT, pl.format("{} ", whole))]
    seconds, rest = (whole // US_PER_SECOND).cast(pl.String), whole % US_PER_SECOND
    return [
        Piece(f"{cell.heading}(S)", f"{name}_S", _BIGINT, seconds),
        Piece(f"{cell.heading}(US)", f"{name}_US", _BIGINT, pl.format(" {} ", rest)),
    ]


def _date_and_time(cell: Cell, style: Style, value: pl.Expr) -> list[Piece]:
    name = sql_name(cell.heading)
    never = pl.lit(style.no_time)
    date, time = (_quoted(value.dt.strftime(each)) for each in (style.date, _TIME))
    return [
        Piece(f"{cell.heading} (DATE)", f"{name}_Date", "DATE", date.fill_null(never)),
        Piece(f"{cell.heading} (TIME)", f"{name}_Time", "CHAR(19)", time.fill_null(never)),
    ]


def _moment(cell: Cell, style: Style) -> list[Piece]:
    return _date_and_time(cell, style, pl.col(cell.field))


def _local(cell: Cell, style: Style) -> list[Piece]:
    """Return a moment in UTC as local time of the system."""
    ahead = pl.duration(seconds=pl.col("utc_offset"))
    return _date_and_time(cell, style, pl.col(cell.field).dt.replace_time_zone(None) + ahead)


def _date(cell: Cell, style: Style) -> list[Piece]:
    value = _quoted(pl.col(cell.field).dt.strftime(style.date))
    return [Piece(cell.heading, sql_name(cell.heading), "DATE", value)]


def _time(cell: Cell, style: Style) -> list[Piece]:
    value = _quoted(pl.col(cell.field).dt.strftime(_TIME))
    return [Piece(cell.heading, sql_name(cell.heading), "CHAR(16)", value)]


def _release(cell: Cell, style: Style) -> list[Piece]:
    """Return a version of MQ as in SMF records: 800, or 100000 from MQ 10 on."""

    def spell(version: str) -> str:
        parts = version.split(".")
        digits = 1 if len(parts[0]) == 1 else 2
        return '"' + "".join(each.zfill(digits) for each in parts) + '"'

    return [Piece(cell.heading, cell.heading, "CHAR(6)", _formatted(pl.col(cell.field), spell))]


def _text(cell: Cell, style: Style) -> list[Piece]:
    value = _formatted(pl.col(cell.field), lambda text: _field(text, cell.width, style.guarded))
    return [Piece(cell.heading, sql_name(cell.heading), f"CHAR({cell.width})", value)]


def _marked(cell: Cell, style: Style) -> list[Piece]:
    """Return a text if its flag is on, otherwise blanks."""
    text = _text(cell, style)[0]
    blank = pl.lit(_field("", cell.width, style.guarded))
    value = pl.when(pl.col(cell.second)).then(text.value).otherwise(blank)
    return [text._replace(value=value)]


def _characters(cell: Cell, style: Style) -> list[Piece]:
    """Return EBCDIC characters, from a column with their bytes as hexadecimal text."""

    def spell(digits: str) -> str:
        text = bytes.fromhex(digits).decode(ENCODING)
        return _field(_NOT_IN_NAMES.sub(".", text), cell.width, style.guarded)

    value = _formatted(pl.col(cell.field), spell)
    return [Piece(cell.heading, sql_name(cell.heading), f"CHAR({cell.width})", value)]


def _hex(cell: Cell, style: Style) -> list[Piece]:
    value = _quoted(pl.col(cell.field).cast(pl.String))
    return [_hex_piece(cell.heading, 2 * cell.width, value)]


def _token(cell: Cell, style: Style) -> list[Piece]:
    digits = 16
    halves = [
        _formatted(pl.col(each), lambda number: f"{int(number):0{digits}X}")
        for each in (cell.field, cell.second)
    ]
    return [_hex_piece(cell.heading, 2 * digits, pl.format('"{}{}"', *halves))]


def _hex_piece(heading: str, digits: int, value: pl.Expr) -> Piece:
    return Piece(heading, sql_name(heading), f"CHAR({digits + 1})", value)


def _words(cell: Cell, style: Style) -> list[Piece]:
    """Return the word for the value of a code or a flag; an unknown value has an empty word."""
    code = pl.col(cell.field).cast(pl.String)
    words = {code: f'"{word}"' for code, word in cell.words}
    value = pl.when(code.is_not_null()).then(code.replace_strict(words, default='""'))
    return [Piece(cell.heading, sql_name(cell.heading), f"CHAR({cell.width})", value)]


FORMS: Mapping[str, Callable[[Cell, Style], list[Piece]]] = {
    "characters": _characters,
    "date": _date,
    "elapsed": _elapsed,
    "hex": _hex,
    "hexadecimal": _hexadecimal,
    "index": _index,
    "local": _local,
    "marked": _marked,
    "microseconds": _whole_number,
    "moment": _moment,
    "number": _number,
    "release": _release,
    "seconds": _whole_number,
    "text": _text,
    "time": _time,
    "token": _token,
    "words": _words,
}
