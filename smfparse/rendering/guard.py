r"""Protection of terminals and spreadsheets against harmful texts.

Every text that smfparse shows or writes passes through this module: values of records, names of
files, messages. A character that is invisible or moves other characters is shown as its number:
`\x1b`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_NOT_SEEN = (
    "\x00-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890-\u0891\u08e2\u115f-\u1160"
    "\u17b4-\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff"
    "\uffa0\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Control and format characters, line separators, and other ignorable characters of Unicode."""
HIDDEN = f"[{_NOT_SEEN}]"
"""A character that is shown as its number: a regular expression for Python and polars."""
FORMULA_START = r"^ *[=+\-@\uff1d\uff0b\uff0d\uff20]"
"""The start of a spreadsheet formula: a regular expression for Python."""
NUMBER = r"^[+\-]?[0-9][0-9.:]*(e[+\-]?[0-9]+)?$"
"""A number or a duration: it is never a formula, although it may start with + or -."""
_HIDDEN = re.compile(f"[{_NOT_SEEN}\ud800-\udfff]")
_FORMULA = re.compile(FORMULA_START)
_NUMBER = re.compile(NUMBER)
_BYTES = range(0xDC80, 0xDD00)
"""Character codes that Python uses for bytes of file names that are not UTF-8."""
_BLANKS = 4
"""Number of characters between tab stops."""


def visible(text: str) -> str:
    r"""Return a visible text: an invisible character becomes its number, as \x1b.

    A backslash is not escaped, so the visible text `\x1b` is shown in the same way. JSON and
    Parquet distinguish the two.
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
    """Return a text for a cell of a spreadsheet: a text like a formula gets ' in front."""
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.match(text) else text


def cell_lines(text: str, escaped: Callable[[str], str]) -> str:
    """Return a text as a cell of Markdown or HTML: escaped lines with breaks between them."""
    return "<br>".join(map(escaped, text.split("\n"))) if "\n" in text else escaped(text)
