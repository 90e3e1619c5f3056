"""What keeps texts from doing harm where they are shown: at a terminal, in a spreadsheet."""

from __future__ import annotations

import re
from collections.abc import Callable

FORMULA_START = r"^[=+\-@]"
"""What spreadsheets take for the start of a formula, as a regular expression."""
NUMBER = r"^[+\-]?[0-9][0-9.:]*(e[+\-]?[0-9]+)?$"
"""A number or a length of time, which is no formula, whatever it starts with."""
CONTROL = "[\x00-\x1f\x7f-\x9f\u2028\u2029]"
"""A character that moves the cursor or ends a line, as a regular expression."""
_FORMULA = re.compile(FORMULA_START)
_NUMBER = re.compile(NUMBER)
_CONTROL = re.compile(CONTROL)


def guarded(text: str) -> str:
    """Return a text as a cell that no spreadsheet takes for a formula: with a ' in front."""
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.match(text) else text


def visible(text: str) -> str:
    """Return a text with a dot for each control character."""
    return text if text.isprintable() else _CONTROL.sub(".", text)


def cell_lines(text: str, escaped: Callable[[str], str]) -> str:
    """Return a text as a cell of Markdown or HTML: each line escaped, and breaks between them."""
    return "<br>".join(map(escaped, text.split("\n"))) if "\n" in text else escaped(text)
