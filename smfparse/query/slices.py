"""A query that runs on slices of the rows, one by one, so that memory contains only one slice.

A slice contains whole sections (rows that the query combines), in the order of time. So the results
of all slices, in order, are the result of the query on all rows. DuckDB writes rows that it must
keep to temporary files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import duckdb

from smfparse.decoding.dictionary import columns
from smfparse.inputs.temporary import TemporaryFolder
from smfparse.metrics.measures import quoted
from smfparse.query.projection import Slicing
from smfparse.query.relations import Connection, Relations
from smfparse.query.results import streamed
from smfparse.query.scans import Spool

_Result = TypeVar("_Result")
_BOUNDS = ("128MB", "512MB", "80%")
"""Memory limits of DuckDB. Some plans need more than the first limit for any number of rows,
because each operator allocates blocks. Such a plan runs again with the next limit, which remains.
"""
_SETTINGS = {"preserve_insertion_order": False, "threads": 1, "memory_limit": _BOUNDS[0]}
"""Settings that save memory. Keeping the order requires all rows; each thread allocates blocks."""


@contextmanager
def settings(connection: Connection, **values: Any) -> Iterator[None]:
    """Change settings of DuckDB, and reset them at the end."""
    try:
        for name, value in values.items():
            connection.execute(f"SET {name} = '{value}'")
        yield
    finally:
        for name in values:
            connection.execute(f"RESET {name}")


def bounded(connection: Connection, **values: Any) -> AbstractContextManager[None]:
    """Return a context in which statements use little memory; `values` are further settings."""
    return settings(connection, **_SETTINGS | values)


def bounded_execute(connection: Connection, statement: str) -> None:
    """Run a statement without rows; a failed statement is repeated with more memory."""
    _with_enough_memory(connection, lambda: connection.execute(statement))


def bounded_rows(connection: Connection, query: str, count: int) -> Iterator[Any]:
    """Yield the rows of a query that orders rows, as `streamed`.

    Until DuckDB returns the first rows, it can run the query again with more memory. After that, it
    requires no more memory, because it has read all rows.
    """

    def begun() -> tuple[Any, Iterator[Any]]:
        found = streamed(connection.sql(query), count)
        return next(found), found

    first, others = _with_enough_memory(connection, begun)
    yield first
    yield from others


def _with_enough_memory(connection: Connection, run: Callable[[], _Result]) -> _Result:
    """Run a statement with the lowest sufficient memory limit."""
    for bound in _BOUNDS[1:]:
        try:
            return run()
        except duckdb.OutOfMemoryException:
            connection.execute(f"SET memory_limit = '{bound}'")
    return run()


_NUMBER = "slice"
"""The column with the number of the slice of a row."""
_NONE = "none.parquet"
"""Name of a file without rows, for slices that have no rows of a table."""
_SECTIONS = "slices"
"""The table of sections and their slices."""
_ORDERING_JOINS = "join_order,build_side_probe_side"
"""Optimizers of DuckDB that choose which table of a join is kept in memory. They would choose the
table of unknown size, although the table of sections is always smaller.
"""
_WRITTEN_AT_ONCE = 2048
"""Number of rows in memory that are written to the files of their slices together."""


class Slices:
    """The rows of a spool on disk, in slices; tables of a connection show one slice at a time."""

    def __init__(self, connection: Connection, relations: Relations, slicing: Slicing) -> None:
        self._connection = connection
        self._relations = relations
        self._slicing = slicing

    @contextmanager
    def made_of(self, spool: Spool, count: int) -> Iterator[Iterator[None]]:
        """Make `count` slices, or more for many sections; yield an iterator that shows each."""
        for name, query in self._slicing.common.items():
            self._execute(f"CREATE OR REPLACE TABLE {name} AS {query}")
        every = self._relations.limits.slice_sections
        self._execute(
            f"CREATE OR REPLACE TABLE {_SECTIONS} AS SELECT section, (rank() OVER (ORDER BY time) "
            f"- 1) * greatest({count}, count(*) OVER () // {every}) // count(*) OVER () "
            f"AS {_NUMBER} FROM ({self._slicing.sections})"
        )
        moved = [each for each in spool.wanted if each in self._slicing.of_row]
        with TemporaryFolder() as folder:
            try:
                with settings(
                    self._connection,
                    disabled_optimizers=_ORDERING_JOINS,
                    partitioned_write_flush_threshold=_WRITTEN_AT_ONCE,
                ):
                    for table in moved:
                        self._write(table, spool.wanted[table], folder / table)
                        spool.remove(table)
                yield self._each({table: folder / table for table in moved})
            finally:
                for table in moved:
                    self._relations.show_all(table)
                for name in (_SECTIONS, *self._slicing.common):
                    self._connection.execute(f"DROP TABLE IF EXISTS {name}")

    def _execute(self, statement: str) -> None:
        bounded_execute(self._connection, statement)

    def _each(self, folders: Mapping[str, Path]) -> Iterator[None]:
        query = f"SELECT DISTINCT {_NUMBER} FROM {_SECTIONS} ORDER BY ALL"
        numbers = self._connection.execute(query).fetchall()
        for (number,) in numbers or [(0,)]:  # no section: one slice without rows
            for table, folder in folders.items():
                files = [*(folder / f"{_NUMBER}={number}").glob("*.parquet")]
                paths = ", ".join(quoted(str(each)) for each in files or [folder / _NONE])
                rows = f"SELECT * FROM read_parquet([{paths}], hive_partitioning = false)"
                self._relations.show(table, rows)
            yield

    def _write(self, table: str, held: frozenset[str] | None, folder: Path) -> None:
        names = [each.name for each in columns(table, held)]
        shown = ", ".join(f'"{each}"' for each in ("input_no", *names))
        self._execute(
            f"COPY (SELECT {_NUMBER}, {shown} FROM ("
            f"SELECT *, {self._slicing.of_row[table]} AS section FROM inputs.{table}"
            f") JOIN {_SECTIONS} USING (section)) TO {quoted(str(folder))} "
            f"(FORMAT parquet, COMPRESSION lz4, PARTITION_BY ({_NUMBER}), OVERWRITE)"
        )
        self._execute(
            f"COPY (SELECT {shown} FROM inputs.{table} LIMIT 0) TO {quoted(str(folder / _NONE))} "
            f"(FORMAT parquet)"
        )
