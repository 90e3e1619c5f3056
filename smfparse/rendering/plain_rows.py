"""Small tables of plain values as text, identical to the output of polars.

All other tables are formatted by polars, which takes longer to load than most queries take.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from smfparse.rendering.document import DECIMALS, LEAST, NULL
from smfparse.rendering.guard import is_plain

_MOST_ROWS = 1_000
_MOST_TEXT = 1_000
"""Maximum number of characters of a text that every version of polars shows in full."""
_MOST = 1e9
"""Maximum value of doubles that contain the shown decimals exactly."""
Column = Sequence[Any]


class _NotPlainError(Exception):
    """A value that only polars can show."""


class _Kind(NamedTuple):
    """How an Arrow type is shown: the function that formats values, and right alignment."""

    texts: Callable[[Column], list[str]]
    right: bool = False


def plain_table(parts: Sequence[Any]) -> list[str] | None:
    """Return the lines of pyarrow.Tables of the same columns: two heading lines, one line per row.

    None: too many rows, or a value that is not plain.
    """
    schema = parts[0].schema
    kinds = [_KINDS.get(str(each.type)) for each in schema]
    names = schema.names
    if sum(each.num_rows for each in parts) > _MOST_ROWS or not all(map(_is_shown, names)):
        return None
    try:
        columns = [
            _column(name, kind, [value for part in parts for value in part[place].to_pylist()])
            for place, (name, kind) in enumerate(zip(names, kinds, strict=True))
        ]
    except (
        _NotPlainError,
        OverflowError,
        ValueError,
    ):  # OverflowError and ValueError: moments outside Python's range
        return None
    heading, *rows = (f"| {' | '.join(cells)} |" for cells in zip(*columns, strict=True))
    return [heading, f"|{'|'.join('-' * (len(each[0]) + 2) for each in columns)}|", *rows]


def _column(name: str, kind: _Kind | None, values: Column) -> list[str]:
    if kind is None:
        raise _NotPlainError
    formatted = iter(kind.texts([each for each in values if each is not None]))
    cells = [name, *(NULL if each is None else next(formatted) for each in values)]
    width = max(map(len, cells))
    return [each.rjust(width) if kind.right else each.ljust(width) for each in cells]


def _is_shown(text: str) -> bool:
    return 0 < len(text) <= _MOST_TEXT and is_plain(text)


def _texts(values: Column) -> list[str]:
    if not all(each == "" or _is_shown(each) for each in values):
        raise _NotPlainError
    return list(values)


def _moments(values: Column) -> list[str]:
    return [each.replace(tzinfo=None).isoformat(" ", _precision(each)) for each in values]


def _precision(moment: dt.datetime) -> str:
    if moment.microsecond == 0:
        return "seconds"
    return "microseconds" if moment.microsecond % 1000 else "milliseconds"


def _moments_in_utc(values: Column) -> list[str]:
    return [f"{each} UTC" for each in _moments(values)]


def _doubles(values: Column) -> list[str]:
    numbers = np.array(values, np.float64)
    sizes = np.abs(numbers)
    if not np.all((sizes == 0) | (sizes >= LEAST) & (sizes <= _MOST)):
        raise _NotPlainError
    short = np.round(numbers, DECIMALS) + 0.0  # no -0.0
    enough = (each for each in range(1, DECIMALS) if np.array_equal(np.round(short, each), short))
    decimals = next(enough, DECIMALS)
    return [f"{each:.{decimals}f}" for each in short.tolist()]


def _whole(values: Sequence[Decimal]) -> list[str]:
    return [f"{each:f}" for each in values]


def _each(shown: Callable[[Any], str]) -> Callable[[Column], list[str]]:
    return lambda values: [*map(shown, values)]


_KINDS = {
    **{
        f"{sign}int{bits}": _Kind(_each(str), True)
        for sign in ("", "u")
        for bits in (8, 16, 32, 64)
    },
    "decimal128(38, 0)": _Kind(_whole, True),
    "double": _Kind(_doubles, True),
    "bool": _Kind(_each(lambda value: "true" if value else "false")),
    "string": _Kind(_texts),
    "date32[day]": _Kind(_each(str)),
    "timestamp[us]": _Kind(_moments),
    "timestamp[us, tz=UTC]": _Kind(_moments_in_utc),
}
"""Arrow types that are shown here."""
