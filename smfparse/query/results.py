"""What a statement gives: rows as pyarrow.Tables, of types and names that every format can show."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

import pyarrow as pa

_PLAIN = {
    *("BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "DECIMAL", "VARCHAR", "DATE", "TIMESTAMP"),
    "TIMESTAMP WITH TIME ZONE",
}
"""DuckDB types that every format can show."""
_WIDENED = {"TIMESTAMP_S": "TIMESTAMP", "TIMESTAMP_MS": "TIMESTAMP"}
"""Types of which another one holds every value."""
_PART = 10_000
"""Rows of a part of a result."""
_HUGE = ("HUGEINT", "UHUGEINT")
"""Integers of 128 bits."""


def result_parts(relation: Any) -> Iterator[Any]:
    """Yield no rows, then many at a time, as pyarrow.Tables.

    Columns have names of their own; nested, binary and interval columns become text.
    """
    reader = _plain(relation).to_arrow_reader(_PART)
    yield reader.schema.empty_table()
    held: list[Any] = []
    for batch in reader:
        held.append(batch)
        if sum(each.num_rows for each in held) >= _PART:
            yield pa.Table.from_batches(held)
            held = []
    if held:
        yield pa.Table.from_batches(held)


def result_table(relation: Any) -> Any:
    """Return rows as a pyarrow.Table, integers of 128 bits as such of 64 where all of them fit."""
    return _narrowed(relation.to_arrow_table(), zip(relation.columns, relation.types, strict=True))


def executed_table(connection: Any) -> Any:
    """Return the few rows of a statement that was executed, as `result_table` does."""
    kinds = [(name, kind) for name, kind, *_ in connection.description]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that rows are copied once more
        return _narrowed(connection.to_arrow_table(), kinds)


def _narrowed(rows: pa.Table, kinds: Iterable[tuple[str, Any]]) -> pa.Table:
    """Return rows with the integers of 128 bits among these columns as such of 64, if they fit."""
    for place, (name, kind) in enumerate(kinds):
        if str(kind) in _HUGE:
            for smaller in (pa.int64(), pa.uint64()):
                with suppress(pa.ArrowInvalid):
                    rows = rows.set_column(place, name, rows.column(place).cast(smaller))
                    break
    return rows


def fetched(connection: Any, count: int) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows of a statement that was executed, `count` at a time, by names of columns."""
    names = [each for each, *_ in connection.description]
    while rows := connection.fetchmany(count):
        yield [dict(zip(names, row, strict=True)) for row in rows]


def streamed(relation: Any, count: int) -> Iterator[Any]:
    """Yield the rows of a relation as they come, as pyarrow.Tables of up to `count`: one at least.

    Integers of 128 bits stay such.
    """
    reader, is_empty = relation.to_arrow_reader(count), True
    for batch in reader:
        is_empty = False
        yield pa.Table.from_batches([batch])
    if is_empty:
        yield reader.schema.empty_table()


def _plain(relation: Any) -> Any:
    names = _unique([name.partition("\0")[0] for name in relation.columns])  # as Arrow cuts them
    columns = []
    for number, (name, kind) in enumerate(zip(names, relation.types, strict=True), 1):
        plain = str(kind).split("(")[0] in _PLAIN
        value = f"#{number}" if plain else f"#{number}::{_WIDENED.get(str(kind), 'VARCHAR')}"
        columns.append(f'{value} AS "{name.replace(chr(34), chr(34) * 2)}"')
    return relation.query("result", f"SELECT {', '.join(columns)} FROM result")


def _unique(names: list[str]) -> list[str]:
    """Number columns of the same name: a, a_1, a_2; names that are not repeated stay."""
    taken = {name.lower() for name in names}
    seen: set[str] = set()
    found = []
    for name in names:
        unique, number = name, 0
        while unique.lower() in seen or (number and unique.lower() in taken):
            number += 1
            unique = f"{name}_{number}"
        seen.add(unique.lower())
        found.append(unique)
    return found
