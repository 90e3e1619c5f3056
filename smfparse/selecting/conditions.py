"""A selection as an SQL condition, for the rows of a dataset that DuckDB reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from smfparse.schemas import WHOLE_RECORDS
from smfparse.selecting.criteria import Types, regex
from smfparse.selecting.lookups import Lookup, lookups, named_in
from smfparse.selecting.selection import Selection
from smfparse.selecting.subjects import JoinKey
from smfparse.selecting.walls import shown_sql
from smfparse.tables import RECORD, TABLES

_KEY_SQL = {
    JoinKey.RECORD: "(source, record_no)",
    JoinKey.BLOCK: "(source, record_no, block_no)",
    JoinKey.TASK: "(coalesce(task_source, source), coalesce(task_record_offset, record_offset))",
}


def sql_condition(selection: Selection, table: str, stored: Callable[[str], str]) -> str | None:
    """Return the SQL condition for the selected rows of a table of a dataset; None: all.

    stored  gives a table of the dataset as one writes it behind FROM
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
    """Return the condition for queue managers; records about a whole system are of each of them."""
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
