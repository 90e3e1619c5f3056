"""Requests for tables and columns, and their Arrow schemas."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, TypeAlias

import pyarrow as pa

from smfparse.errors import RequestError
from smfparse.layout.clocks import LOCAL_TIMESTAMP, TIMESTAMP
from smfparse.layout.numbers import WIDE_DIGITS
from smfparse.tables.dictionary import (
    RECORD,
    TABLES,
    columns,
    table_names,
    title,
    with_fingerprints,
)

Wanted: TypeAlias = Mapping[str, frozenset[str] | None]
"""Requested columns of each requested table; None: all columns."""
Batch: TypeAlias = Any
"""A pyarrow.RecordBatch."""

DECIMAL = f"decimal128({WIDE_DIGITS}, 0)"
"""Name of the Arrow type for numbers of more than 64 bits."""
_NOTHING: frozenset[str] = frozenset()


@cache
def arrow_type(name: str) -> Any:
    """Return the Arrow type that `Shown.arrow` names."""
    named = {
        TIMESTAMP: pa.timestamp("us", tz="UTC"),
        LOCAL_TIMESTAMP: pa.timestamp("us"),
        DECIMAL: pa.decimal128(WIDE_DIGITS, 0),
    }
    return named.get(name) or pa.type_for_alias(name)


CODED = pa.dictionary(pa.int32(), pa.string())
"""Arrow type of decoded text columns: each distinct text is stored once."""


def wanted_tables(names: Iterable[str]) -> Wanted:
    """Return the request for all columns of tables. Raises RequestError for an unknown table."""
    found = [each.lower() for each in names]
    unknown = sorted(set(found) - set(table_names()))
    if unknown:
        raise RequestError(
            f"no table {', '.join(unknown)}; views are read with SQL, as smfparse sql INPUT "
            f'"FROM {unknown[0]}" --format csv --output {unknown[0]}.csv; '
            f"tables are {', '.join(table_names())}"
        )
    return dict.fromkeys(found)


def wanted_columns(table: str, names: Iterable[str]) -> list[str]:
    """Return distinct names of columns. Raises RequestError for a column not in the table."""
    known = whole_schema(table).names
    found = list(dict.fromkeys(names))
    for each in found:
        if each not in known:
            near = ", ".join(difflib.get_close_matches(each.lower(), known))
            hint = f"near: {near}" if near else f"smfparse describe {table} lists them"
            raise RequestError(f"the table {table} has no column {each}; {hint}")
    return found


@cache
def every_block() -> Wanted:
    """Return the request that finds all damage: it locates every block, and decodes no block."""
    first = {each.block.name: name for name, each in reversed(TABLES.items())}
    return {RECORD: _NOTHING, **dict.fromkeys(first.values(), _NOTHING)}


def schema(table: str) -> Any:
    """Return the Arrow schema of a table, with description, unit and since of each column."""
    return plain_schema(table)


def whole_schema(table: str) -> Any:
    """Return the schema of a table, including the columns that exist only on request."""
    return plain_schema(table, with_fingerprints(table))


@cache
def coded_schema(table: str, wanted: frozenset[str] | None = None) -> Any:
    """Return the schema of decoded batches: as `plain_schema`, with dictionaries for texts."""
    plain = plain_schema(table, wanted)
    fields = [
        plain.field(each.name).with_type(CODED) if each.coded else plain.field(each.name)
        for each in columns(table, wanted)
    ]
    return pa.schema(fields, metadata=plain.metadata)


SIGNED = {
    pa.uint8(): pa.int32(),
    pa.uint16(): pa.int32(),
    pa.int16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
}
"""Signed type for each type that some engines do not support, large enough for all values."""


def signed(schema: Any) -> Any:
    """Return a schema with signed types, for engines without unsigned numbers."""
    fields = [each.with_type(SIGNED.get(each.type, each.type)) for each in schema]
    return pa.schema(fields, metadata=schema.metadata)


@cache
def plain_schema(table: str, wanted: frozenset[str] | None = None) -> Any:
    """Return the schema of columns of a table, in the order of the table.

    wanted  names of the columns; None: all except columns on request
    """
    fields = [
        pa.field(each.name, arrow_type(each.arrow), metadata=each.metadata)
        for each in columns(table, wanted)
    ]
    return pa.schema(fields, metadata={"description": title(table)})


def chosen(tables: Iterable[str], names: Iterable[str]) -> Wanted:
    """Return the request for columns of tables. Raises RequestError for an unknown name.

    tables  names of tables; empty: all
    names   names of columns; empty: all. Each table is requested with the columns that it has
    """
    wanted = wanted_tables([*tables] or table_names())
    asked = frozenset(names)
    if not asked:
        return wanted
    known = {table: asked & set(whole_schema(table).names) for table in wanted}
    unknown = asked - frozenset().union(*known.values())
    if unknown:
        raise RequestError(
            f"no column {', '.join(sorted(unknown))} in {', '.join(wanted)}; see smfparse describe"
        )
    return {table: names for table, names in known.items() if names}
