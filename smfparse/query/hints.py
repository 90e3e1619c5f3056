"""Hints for a failed query: names similar to an unknown name, and types for large results."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from smfparse.errors import QueryError, SmfError
from smfparse.metrics.views import columns_meant, columns_of, relations
from smfparse.rendering.figures import few
from smfparse.tables.dictionary import near_names

_COLUMN = re.compile(r'[Cc]olumn (?:named )?"([^"]+)"')
_TABLE = re.compile(r"Table with name (\w+) does not exist")
_SUGGESTION = re.compile(r'\nDid you mean "(\w+)[^\n]*')
_OVERFLOW = re.compile(r"^Out of Range Error: Overflow in \w+ of U?INT")
_WIDER = "the result does not fit the type; use doubles: column::DOUBLE, or 4096e0 instead of 4096"
_PLACE = "\n\nLINE "
"""The text before the line of the query in which DuckDB found an error."""
_MAXIMUM_NAMES = 5
_SAFE_MODE = "with safe=True a statement can use only the tables of the inputs"


def failure(message: str, tables: Iterable[str], *, denied: bool, large: bool) -> SmfError:
    """Return the error to raise for a `message` of DuckDB.

    tables  the tables and views that the query names
    denied  whether the query needs access that safe=True does not allow
    large   whether the query needs more memory than available
    """
    if large:
        reason, _, _ = message.partition("\n")
        return SmfError(f"{reason}; select fewer rows or columns")
    message = hinted(message, tables)
    return QueryError(f"{message}\n{_SAFE_MODE}", "safe") if denied else QueryError(message)


def hinted(message: str, tables: Iterable[str]) -> str:
    """Return a message of DuckDB, with a hint where an unknown name exists, if it exists at all.

    tables  the tables and views that the query names
    """
    column, table = _COLUMN.search(message), _TABLE.search(message)
    meant = _SUGGESTION.search(message)
    if meant and meant[1] not in relations():  # one of DuckDB's own
        message = message.replace(meant[0], "")
    if column and "mbiguous" not in message:
        hint = _of_column(column[1], list(tables), message)
    elif table:
        hint = _of_table(table[1], message)
    elif _OVERFLOW.match(message):
        hint = _WIDER
    else:
        return message
    what, place, line = message.partition(_PLACE)
    return f"{what}\n{hint}{place}{line}" if hint else message


def _of_column(name: str, tables: list[str], message: str) -> str:
    places = [(table, each.name) for table, each in columns_meant(name) if table not in tables]
    if places:
        return _tables_of(places)
    known = dict.fromkeys(each.name for table in tables for each in columns_of(table))
    near = [each for each in known if each.startswith(name.lower())]
    near += difflib.get_close_matches(name.lower(), known, n=_MAXIMUM_NAMES)
    missing = f"no column {name} in {', '.join(tables)}" if tables else f"no column {name}"
    return _near(missing, near, message)


def _of_table(name: str, message: str) -> str:
    places = [(table, each.name) for table, each in columns_meant(name)]
    if places:
        return _tables_of(places)
    known = relations()
    tables = [each for each in near_names(name, known) if each in known]
    tables += difflib.get_close_matches(name.lower(), known, n=_MAXIMUM_NAMES)
    return _near(f"no table {name}", tables, message)


def _tables_of(places: list[tuple[str, str]]) -> str:
    """Return the hint with the tables that contain a column, and its name in each table."""
    found = [f"{table}.{column}" for table, column in places]
    return f"found: {few(found, _MAXIMUM_NAMES)}"


def _near(missing: str, near: Iterable[str], message: str) -> str:
    """Return the hint with similar names; '' if DuckDB's message contains all of them."""
    names = list(dict.fromkeys(near))[:_MAXIMUM_NAMES]
    if all(f'"{each}"' in message for each in names):
        return ""
    return f"{missing}; near: {', '.join(names)}"
