"""The columns that a query reads from SMF files, from DuckDB's `EXPLAIN (FORMAT JSON)`.

A scan in a plan does not name its table. So in DuckDB, the name of each column of an SMF file
starts with the name of the table: `wqst__putn`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from smfparse.decoding.arrow import Wanted
from smfparse.decoding.dictionary import columns, table_names, with_fingerprints
from smfparse.metrics.views import view, view_names, words_in

_LINK = "__"
_OWN_TABLES = "DUCKDB_"
"""First words of operators that list the tables and views of a connection."""
_RECURSIVE = "REC"
"""First words of operators that run a part of the plan repeatedly."""


class Plan(NamedTuple):
    """The data that a query reads.

    columns      {table: its columns that any scan needs}; None: all columns
    scans        number of scans of these tables; a scan that may run again counts as two
    lists_views  whether the query reads the list of tables and views
    """

    columns: Wanted
    scans: int
    lists_views: bool = False


NOTHING = Plan({}, 0)


class Slicing(NamedTuple):
    """The slices of a query.

    sections  query for the columns `section`, and `time`, by which the rows are ordered
    of_row    by table: SQL of the section of a row
    common    by name of a table: query for data that all slices share
    query     the query for a slice; it orders the rows of sections with the same time
    """

    sections: str
    of_row: Mapping[str, str]
    common: Mapping[str, str]
    query: str


def read_first(plans: Iterable[Plan], slicing: Slicing | None = None) -> Wanted:
    """Return the tables and columns of queries with several scans in total; empty: one scan.

    slicing  slices of the queries: the columns that show the slice of a row are included
    """
    plans = list(plans)
    if sum(each.scans for each in plans) < 2:
        return {}
    found: dict[str, frozenset[str] | None] = {}
    for each in plans:
        for table, names in each.columns.items():
            held = found.get(table, frozenset())
            found[table] = None if held is None or names is None else held | names
    for table, sql in slicing.of_row.items() if slicing else ():
        if names := found.get(table):
            found[table] = names | (words_in(sql) & _column_names(table))
    return found


def scanned(table: str, column: str) -> str:
    """Return the name of a column of an SMF file in a plan."""
    return f"{table}{_LINK}{column}"


def named_tables(query: str) -> list[str]:
    """Return the tables whose names are words of `query`: all that `query` reads, maybe more."""
    found = words_in(query.lower())
    return [table for table in table_names() if table in found]


def named_views(query: str) -> list[str]:
    """Return the views whose names are words of `query`: all that `query` reads, maybe more."""
    found = words_in(query.lower())
    return [view for view in view_names() if view in found]


def tables_of(found: Iterable[str]) -> list[str]:
    """Return the tables that views read."""
    needed = {table for each in found for table in view(each).tables}
    return [table for table in table_names() if table in needed]


def read_by(query: str) -> list[str]:
    """Return the tables that `query` reads, directly or by views, and maybe more."""
    return [*named_tables(query), *tables_of(named_views(query))]


def read_plan(text: str) -> Plan | None:
    """Return the tables and columns that a plan in JSON reads; None: unknown."""
    try:
        (root,) = json.loads(text)
        operators = list(_operators(root))
        scans = [scan for each in operators if (scan := _scan(each)) is not None]
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
    needed: dict[str, frozenset[str]] = {}
    for table, names in scans:
        if names:
            needed[table] = needed.get(table, frozenset()) | names
    kinds = [each["name"] for each in operators]
    again = any(kind.startswith(_RECURSIVE) for kind in kinds)
    lists_views = any(kind.startswith(_OWN_TABLES) for kind in kinds)
    return Plan(needed, len(scans) * (2 if again else 1), lists_views)


def _operators(root: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield root
    for child in root["children"]:
        yield from _operators(child)


def _scan(operator: Mapping[str, Any]) -> tuple[str, frozenset[str]] | None:
    """Return the table of a scan and the columns that it outputs or filters by; None: other scans.

    The table is '' for a scan without columns, because only columns show the table. Raises
    ValueError for a scan of Arrow data whose columns are not columns of one table.
    """
    info = operator["extra_info"]
    if operator["children"] or "ARROW_SCAN" not in operator["name"]:
        return None
    if info["Projections"] == "" and "Filters" not in info:
        return "", frozenset()
    found = words_in(f"{info['Projections']} {info.get('Filters')}")
    links = [each.partition(_LINK) for each in found if _LINK in each]
    (table,) = {table for table, _, column in links if column in _column_names(table)}
    return table, frozenset(column for _, _, column in links) & _column_names(table)


@cache
def _column_names(table: str) -> frozenset[str]:
    if table not in table_names():
        return frozenset()
    return frozenset(each.name for each in columns(table, with_fingerprints(table)))
