"""A selection as an SQL condition, for the rows of a dataset that DuckDB reads.

The condition reads columns of the table itself, and other tables by lookups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from smfparse.schemas import WHOLE_RECORDS
from smfparse.selecting.criteria import Types, regex
from smfparse.selecting.selection import BY_NAME, Selection
from smfparse.selecting.subjects import NAMED, JoinKey, naming, tables_about
from smfparse.selecting.zones import shown_sql
from smfparse.tables.dictionary import RECORD, TABLES


class Lookup(NamedTuple):
    """Rows of a table that share a key with selected rows of another table.

    table  the other table
    key    the shared key
    asked  the selection of rows of the other table
    """

    table: str
    key: JoinKey
    asked: Selection


def named_in(selection: Selection, table: str) -> Iterator[tuple[tuple[str, ...], frozenset[str]]]:
    """Yield the columns of a table with names of each kind, and the patterns for these names."""
    for option, patterns in selection.by_name.items():
        if table in NAMED[option]:
            yield NAMED[option][table], patterns


def lookups(selection: Selection, table: str) -> Iterator[list[Lookup]]:
    """Yield lists of lookups: the key of a selected row is in at least one lookup of each list."""
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


_KEY_SQL = {
    JoinKey.RECORD: "(source, record_no)",
    JoinKey.BLOCK: "(source, record_no, block_no)",
    JoinKey.TASK: "(coalesce(task_source, source), coalesce(task_record_offset, record_offset))",
}


def sql_condition(selection: Selection, table: str, stored: Callable[[str], str]) -> str | None:
    """Return the SQL condition for the selected rows of a dataset's table; None: all rows.

    stored  returns the FROM expression of a table of the dataset
    """
    if selection.holds(table) is False:
        return "false"
    parts = [
        *_like(["system"], selection.systems),
        *_of_qmgrs(selection, table),
        *_in_time(selection),
        *([_of_types(selection.types)] if selection.types and table == RECORD else []),
        *(_named_like(*each) for each in named_in(selection, table)),
        *(
            _any_of([_in_other(each, stored) for each in found])
            for found in lookups(selection, table)
        ),
    ]
    return " AND ".join(parts) or None


def _in_other(lookup: Lookup, stored: Callable[[str], str]) -> str:
    key = _KEY_SQL[lookup.key]
    asked = sql_condition(lookup.asked, lookup.table, stored)
    return f"{key} IN (SELECT {key} FROM {stored(lookup.table)} WHERE {asked})"


def _like(columns: Iterable[str], patterns: Iterable[str]) -> list[str]:
    expression = "|".join(map(regex, sorted(patterns))).replace("'", "''")
    found = [f"regexp_full_match({column}, '{expression}')" for column in columns]
    return [_any_of(found)] if expression else []


def _of_qmgrs(selection: Selection, table: str) -> list[str]:
    """Return the condition for queue managers; every queue manager of a system has its records."""
    named = _like(["qmgr"], selection.qmgrs)
    if table == RECORD and named:
        return [f"({named[0]} OR type IN ({', '.join(map(str, WHOLE_RECORDS))}))"]
    return [] if table in TABLES and TABLES[table].shared else named


def _named_like(columns: Iterable[str], patterns: Iterable[str]) -> str:
    """Return the SQL condition for names in one of the columns; a blank field never matches."""
    return _any_of(
        [
            f"({each} <> '' AND {condition})"
            for each in columns
            for condition in _like([each], patterns)
        ]
    )


def _any_of(conditions: list[str]) -> str:
    return conditions[0] if len(conditions) == 1 else f"({' OR '.join(conditions)})"


def _in_time(selection: Selection) -> Iterator[str]:
    if selection.time_column is None:
        return
    column = selection.time_column
    if selection.zone:
        column = shown_sql(selection.zone, column)
    if selection.start:
        yield f"{column} >= TIMESTAMP '{selection.start}'"
    if selection.end:
        yield f"{column} < TIMESTAMP '{selection.end}'"
    if selection.daily:
        opens, closes = selection.daily
        second = f"(epoch_us({column}::TIME) // 1000000)"
        yield f"({second} >= {opens} {'AND' if opens < closes else 'OR'} {second} < {closes})"


def _of_types(found: Iterable[Types]) -> str:
    return f"({' OR '.join(map(_of_type, found))})"


def _of_type(each: Types) -> str:
    condition = "type BETWEEN {} AND {}".format(*each.types)
    subtypes = [f"subtype BETWEEN {low} AND {high}" for low, high in each.subtypes or ()]
    return f"{condition} AND ({' OR '.join(subtypes)})" if subtypes else condition
