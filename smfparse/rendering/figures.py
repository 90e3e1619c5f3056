r"""Styles that convert values to text, and protection against harmful texts.

Every text that smfparse shows or writes passes through this module: values of records, names of
files, messages. To protect terminals and spreadsheets, a character that is invisible or moves other
characters is shown as its number: `\x1b`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

_NOT_SEEN = (
    "\x00-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890-\u0891\u08e2\u115f-\u1160"
    "\u17b4-\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff"
    "\uffa0\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Control and format characters, line separators, and other ignorable characters of Unicode."""
HIDDEN = f"[{_NOT_SEEN}]"
"""Regular expression, for Python and polars, for a character that is shown as its number."""
FORMULA_START = r"^ *[=+\-@\uff1d\uff0b\uff0d\uff20]"
"""Regular expression for the start of a spreadsheet formula."""
NUMBER = r"^[+\-]?[0-9][0-9.:]*(e[+\-]?[0-9]+)?$"
"""Regular expression for a number or a duration, never a formula even if it starts with + or -."""
_HIDDEN = re.compile(f"[{_NOT_SEEN}\ud800-\udfff]")
_FORMULA = re.compile(FORMULA_START)
_NUMBER = re.compile(NUMBER)
_BYTES = range(0xDC80, 0xDD00)
"""Character codes that Python uses for bytes of file names that are not UTF-8."""
_BLANKS = 4
"""Number of characters between tab stops."""


def visible(text: str) -> str:
    r"""Return a visible text: an invisible character becomes its number, as \x1b.

    A backslash is not escaped, so ESC and the four characters `\x1b` look the same. JSON and
    Parquet distinguish the two texts.
    """
    if (
        text.isascii() and text.isprintable()
    ):  # as `is_plain`, without a call: this runs for every line
        return text
    return _HIDDEN.sub(_numbered, text)


def is_plain(text: str) -> bool:
    """Whether a quick check shows that `visible` does not change a text; False: not known."""
    return text.isascii() and text.isprintable()


def _numbered(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code in _BYTES:
        code -= 0xDC00
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def visible_lines(text: str) -> str:
    """Return a visible text with its line ends; tabs become blanks."""
    return "\n".join(map(visible, text.expandtabs(_BLANKS).split("\n")))


def json_visible(text: str) -> str:
    r"""Return JSON, of one line or several, with \u001b for invisible characters.

    text  JSON in which characters below a blank are already escaped
    """
    if text.isascii() and "\x7f" not in text:
        return text
    return "\n".join(_HIDDEN.sub(_json_numbered, line) for line in text.split("\n"))


def _json_numbered(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def guarded(text: str) -> str:
    """Return a text for a spreadsheet cell: ' is added before a text that looks like a formula."""
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.match(text) else text


def cell_lines(text: str, escaped: Callable[[str], str]) -> str:
    """Return a text as a cell of Markdown or HTML: escaped lines with breaks between them."""
    return "<br>".join(map(escaped, text.split("\n"))) if "\n" in text else escaped(text)


ABSENT = "-"
"""The text for a value without data."""
_UNITS = ("B", "KB", "MB", "GB", "TB", "PB")
_LEAST = 0.001
"""Least value that is shown as a number; a smaller value is shown as `<0.001`."""
_WHOLE = 100
"""Least percentage that is shown without decimals."""
_MANY = 10_000
"""Least number of a unit that is shown in the next larger unit."""


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
    """Return the first `size` characters of a moment, faster than `strftime`."""
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
    "size": (_size, "truncated, in the largest unit (KB, MB, ...) that gives 1 or more"),
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
"""Each style: the function that formats a value, and a description of the result."""
MOMENTS = frozenset({"hour", "instant", "second", "moment"})
"""Styles of moments: UTC in the data, shown as local time."""
NUMBERS = frozenset(
    {"count", "truncated", "grouped", "rounded", "tenths", "decimal", "micro", "percent", "size"}
    | {"megabytes"}
)
"""Styles of numbers."""
GROUPED = frozenset({"grouped"})
"""Styles with separators, which CSV omits."""


def styled(value: Any, style: str) -> str:
    """Return a value in a style; ABSENT for None."""
    return ABSENT if value is None else STYLES[style][0](value)


def legible(value: float | None, style: str) -> str:
    """Return a number in a style; `<0.1` or `<1` for a small positive number instead of 0.

    A percentage has two significant digits below 1, and no decimals from 100 on.
    """
    least = {"percent": 0.01, "tenths": 0.1}.get(style, 1)
    if value is not None and 0 < value < least:
        return f"<{least:g}"
    if style == "percent" and value is not None and (0 < value < 1 or value >= _WHOLE):
        return f"{value:.2g}" if value < 1 else f"{value:,.0f}"
    return styled(value, style)


def in_digits(number: float, digits: int = 4) -> str:
    """Return a number with `digits` significant digits, whole parts in full; ABSENT: not finite."""
    if not math.isfinite(number):
        return ABSENT
    is_large = abs(number) >= 1000 - 5 * 10.0 ** (2 - digits)
    return f"{number:,.{0 if is_large else digits}{'f' if is_large else 'g'}}"


def short(number: float) -> str:
    """Return a number with four significant digits; a positive number below 0.001 as `<0.001`."""
    return f"<{_LEAST}" if 0 < number < _LEAST else in_digits(number)


def with_decimals(number: float, decimals: int) -> str:
    """Return a number with decimals; a positive number that would be rounded to 0 as `<0.01`."""
    least = 10.0**-decimals
    if 0 < number < least / 2:
        return f"<{least:.{decimals}f}"
    return f"{number:,.{decimals}f}" if math.isfinite(number) else ABSENT


def decimals_of(values: Iterable[float]) -> int:
    """Return the number of decimals for all values of a column.

    The highest value has at least four digits. Below two decimals, one more decimal is added for
    small values.
    """
    known = [abs(each) for each in values if math.isfinite(each) and each]
    if all(each == int(each) for each in known):
        return 0
    enough = _needed(4, max(known))
    return max(enough, min(_needed(2, min(known)), enough + 1, 2))


def _needed(digits: int, value: float) -> int:
    return max(digits - 1 - math.floor(math.log10(value)), 0)


def plural(count: int, what: str) -> str:
    """Return a number with the noun `what`, in singular or plural."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def few(names: Sequence[str], most: int = 5) -> str:
    """Return a text of the first `most` names and the number of further names."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
