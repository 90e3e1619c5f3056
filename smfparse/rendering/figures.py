"""The styles of figures: how a value becomes text."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from smfparse.rendering.guard import visible

ABSENT = "-"
"""What is shown where the data does not have what a figure is made of."""
_UNITS = ("B", "KB", "MB", "GB", "TB", "PB")
_MANY = 10_000
"""So many megabytes are shown as gigabytes, and so on."""


def _text(value: Any) -> str:
    return visible(str(value))


def _count(value: Any) -> str:
    return str(int(value))


def _truncated(value: Any) -> str:
    return str(math.trunc(value))


def _grouped(value: Any) -> str:
    return f"{math.trunc(value):,}"


def _rounded(value: Any) -> str:
    return f"{value:.0f}"


def _tenths(value: Any) -> str:
    return f"{value:z.1f}"


def _decimal(value: Any) -> str:
    return f"{value:.3f}"


def _micro(value: Any) -> str:
    return f"{value:.6f}"


def _percent(value: Any) -> str:
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def _size(value: Any) -> str:
    number, unit = math.trunc(value), 0
    while number >= 1024 and unit < len(_UNITS) - 1:
        number, unit = number // 1024, unit + 1
    return f"{number} {_UNITS[unit]:>2}"


def _megabytes(value: Any) -> str:
    number, unit = float(value), _UNITS.index("MB")
    while number >= _MANY and unit < len(_UNITS) - 1:
        number, unit = number / 1024, unit + 1
    return f"{number:.0f} {_UNITS[unit]}"


def _flag(value: Any) -> str:
    return "Yes" if value else "No"


def _iso(value: Any, size: int) -> str:
    """Return the first characters of a moment; `strftime` takes ten times as long."""
    text: str = value.isoformat(",", "microseconds")
    return text[:size].replace("-", "/", 2)


def _hour(value: Any) -> str:
    return _iso(value, 16)


def _instant(value: Any) -> str:
    return _iso(value, 26)


def _second(value: Any) -> str:
    return _iso(value, 19)


def _moment(value: Any) -> str:
    return f"{value:%Y/%m/%d, %H:%M:%S}"


def _date(value: Any) -> str:
    return f"{value:%Y/%m/%d}"


def _clock(value: Any) -> str:
    return f"{value:%H:%M:%S}"


STYLES: Mapping[str, tuple[Callable[[Any], str], str]] = {
    "count": (_count, "whole number"),
    "truncated": (_truncated, "truncated to a whole number"),
    "grouped": (_grouped, "truncated to a whole number, in groups of three digits"),
    "rounded": (_rounded, "rounded to a whole number"),
    "tenths": (_tenths, "one decimal"),
    "decimal": (_decimal, "three decimals"),
    "micro": (_micro, "six decimals"),
    "percent": (_percent, "up to two decimals"),
    "size": (_size, "truncated to the largest unit of 1024 that it has one of"),
    "megabytes": (_megabytes, "megabytes, 10,000 and more rounded to a larger unit"),
    "flag": (_flag, "Yes or No"),
    "hour": (_hour, "local time of the system"),
    "instant": (_instant, "local time of the system, with microseconds"),
    "second": (_second, "local time of the system"),
    "moment": (_moment, "local time of the system"),
    "date": (_date, "local date of the system"),
    "clock": (_clock, "local time of the system"),
    "text": (_text, "text"),
}
"""Each style: how a value is shown, and that in words."""
MOMENTS = frozenset({"hour", "instant", "second", "moment"})
"""Styles of moments: UTC in the data, local time where they are shown."""
NUMBERS = frozenset(
    {"count", "truncated", "grouped", "rounded", "tenths", "decimal", "micro", "percent", "size"}
    | {"megabytes"}
)
"""Styles of numbers."""
GROUPED = frozenset({"grouped"})
"""Styles with separators, which CSV does without."""


def few(names: Sequence[str], most: int = 5) -> str:
    """Return the first names in a text, and how many more there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
