"""Results of statements: pyarrow.Tables with types and names that every format supports."""

from __future__ import annotations

import datetime as dt
import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa

from smfparse.vectors import microseconds

_PLAIN = {
    *("BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "DECIMAL", "VARCHAR", "DATE", "TIMESTAMP"),
    "TIMESTAMP WITH TIME ZONE",
}
"""DuckDB types that every format can show."""
_WIDENED = {"TIMESTAMP_S": "TIMESTAMP", "TIMESTAMP_MS": "TIMESTAMP"}
"""DuckDB types, each with a plain type into which all values fit."""
_PART = 10_000
"""Maximum rows in a part of a result."""
_HUGE = ("HUGEINT", "UHUGEINT")
"""Integers of 128 bits."""
_MOMENT = pa.timestamp("us", "UTC")
_FIRST, _LAST = np.array(["0001-01-01", "9999-12-31"], "datetime64[us]").view(np.int64)
"""The range of times that Python supports."""


def result_parts(relation: Any) -> Iterator[Any]:
    """Yield an empty pyarrow.Table, then the rows as large pyarrow.Tables.

    Columns have distinct names; nested, binary and interval columns become text.
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
    """Return rows as a pyarrow.Table; 128-bit integers become 64-bit if a whole column fits."""
    return _narrowed(relation.to_arrow_table(), zip(relation.columns, relation.types, strict=True))


def executed_table(connection: Any) -> Any:
    """Return the few rows of an executed statement, as from `result_table`."""
    kinds = [(name, kind) for name, kind, *_ in connection.description]
    return _narrowed(executed_part(connection), kinds)


def executed_part(connection: Any) -> Any:
    """Return the few rows of an executed statement, with types as from `streamed`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # DuckDB warns that rows are copied
        return connection.to_arrow_table()


def _narrowed(rows: pa.Table, kinds: Iterable[tuple[str, Any]]) -> pa.Table:
    """Return rows with 64-bit instead of 128-bit integers, in columns whose values all fit."""
    for place, (name, kind) in enumerate(kinds):
        if str(kind) in _HUGE:
            for smaller in (pa.int64(), pa.uint64()):
                with suppress(pa.ArrowInvalid):
                    rows = rows.set_column(place, name, rows.column(place).cast(smaller))
                    break
    return rows


def fetched(connection: Any, count: int) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows of an executed statement, up to `count` at a time, by names of columns."""
    names = [each for each, *_ in connection.description]
    while rows := connection.fetchmany(count):
        yield [dict(zip(names, row, strict=True)) for row in rows]


def rows_of(part: Any) -> list[dict[str, Any]]:
    """Return the rows of a pyarrow.Table by names of columns, like `to_pylist`, but faster.

    `to_pylist` looks up the zone of each moment, which takes most of the time.
    """
    names, columns = part.column_names, map(_values, part.columns)
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _values(column: Any) -> list[Any]:
    if column.type != _MOMENT:
        found: list[Any] = column.to_pylist()
        return found
    return [each for chunk in column.chunks if len(chunk) for each in _moments(chunk)]


def _moments(chunk: Any) -> list[dt.datetime | None]:
    numbers, known = microseconds(chunk)
    if not np.all((numbers >= _FIRST) & (numbers <= _LAST)):
        found: list[dt.datetime | None] = chunk.to_pylist()
        return found
    moments = numbers.view("M8[us]").astype(object).tolist()
    found = [each.replace(tzinfo=dt.UTC) for each in moments]
    for place in np.flatnonzero(~known).tolist():
        found[place] = None
    return found


def streamed(relation: Any, count: int) -> Iterator[Any]:
    """Yield the rows of a relation immediately: pyarrow.Tables of up to `count` rows, at least one.

    128-bit integers are kept.
    """
    reader, is_empty = relation.to_arrow_reader(count), True
    for batch in reader:
        is_empty = False
        yield pa.Table.from_batches([batch])
    if is_empty:
        yield reader.schema.empty_table()


def _plain(relation: Any) -> Any:
    names = _unique([name.partition("\0")[0] for name in relation.columns])  # as in Arrow
    columns = []
    for number, (name, kind) in enumerate(zip(names, relation.types, strict=True), 1):
        plain = str(kind).split("(")[0] in _PLAIN
        value = f"#{number}" if plain else f"#{number}::{_WIDENED.get(str(kind), 'VARCHAR')}"
        columns.append(f'{value} AS "{name.replace(chr(34), chr(34) * 2)}"')
    return relation.query("result", f"SELECT {', '.join(columns)} FROM result")


def _unique(names: list[str]) -> list[str]:
    """Return distinct names: repeated names are numbered (a, a_1, a_2), others are unchanged."""
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
