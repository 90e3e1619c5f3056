"""Queries of much data in little memory: DuckDB spills to temporary files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeVar

import duckdb

from smfparse.query.connecting import Connection
from smfparse.query.results import streamed

_Result = TypeVar("_Result")
_BOUNDS = ("128MB", "512MB", "80%")
"""What DuckDB may hold. Some plans need more than the least however few rows there are, as each
operator has some blocks of its own; they have the next from then on."""
_SETTINGS = {"preserve_insertion_order": False, "threads": 1, "memory_limit": _BOUNDS[0]}
"""To keep the order of rows DuckDB needs them all, and each thread has blocks of its own."""


@contextmanager
def settings(connection: Connection, **values: Any) -> Iterator[None]:
    """Give settings of DuckDB other values than their own for a while."""
    try:
        for name, value in values.items():
            connection.execute(f"SET {name} = '{value}'")
        yield
    finally:
        for name in values:
            connection.execute(f"RESET {name}")


def bounded(connection: Connection) -> AbstractContextManager[None]:
    """Have statements take little memory, where settings can be changed."""
    return settings(connection, **_SETTINGS)


def bounded_execute(connection: Connection, statement: str) -> None:
    """Run a statement that gives no rows, and can be run again where it fails."""
    _with_enough(connection, lambda: connection.execute(statement))


def bounded_rows(connection: Connection, query: str, count: int) -> Iterator[Any]:
    """Yield the rows of a query that orders them, as `streamed` does.

    Until the first come, which needs all of them to be there, it can be run again.
    """

    def begun() -> tuple[Any, Iterator[Any]]:
        found = streamed(connection.sql(query), count)
        return next(found), found

    first, others = _with_enough(connection, begun)
    yield first
    yield from others


def _with_enough(connection: Connection, run: Callable[[], _Result]) -> _Result:
    for bound in _BOUNDS[1:]:
        try:
            return run()
        except duckdb.OutOfMemoryException:
            connection.execute(f"SET memory_limit = '{bound}'")
    return run()
