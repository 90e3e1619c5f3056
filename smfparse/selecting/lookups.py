"""Columns to read for a row selection: of the table itself, and of other tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from smfparse.selecting.selection import BY_NAME, Selection
from smfparse.selecting.subjects import NAMED, JoinKey, naming, tables_about
from smfparse.tables import RECORD


class Lookup(NamedTuple):
    """Rows of a table that share a key with rows of another that are asked for.

    table  the other table
    asked  what is asked of its rows
    """

    table: str
    key: JoinKey
    asked: Selection


def named_in(selection: Selection, table: str) -> Iterator[tuple[tuple[str, ...], frozenset[str]]]:
    """Yield columns of a table that hold names that are asked for, and the patterns for them."""
    for option, patterns in selection.by_name.items():
        if table in NAMED[option]:
            yield NAMED[option][table], patterns


def lookups(selection: Selection, table: str) -> Iterator[list[Lookup]]:
    """Yield other tables that the rows of a table are chosen by: by one of each list."""
    if table == RECORD:
        if selection.by_name:
            asked = _asking(selection.by_name)
            tables = tables_about(frozenset(selection.by_name))
            yield [Lookup(each, JoinKey.RECORD, asked) for each in tables]
        return
    if selection.holds(table) is None:
        yield [Lookup(RECORD, JoinKey.RECORD, Selection(types=selection.types))]
    for option, patterns in selection.by_name.items():
        found = naming(option, table)
        if found is not None and found.table != table:
            yield [Lookup(found.table, found.key, _asking({option: patterns}))]


def _asking(by_name: Mapping[str, frozenset[str]]) -> Selection:
    asked: dict[str, Any] = {BY_NAME[option]: patterns for option, patterns in by_name.items()}
    return Selection(**asked)
