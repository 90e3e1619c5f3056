"""A DuckDB connection with every table and view of the inputs.

Tables and views are created when a query names them. For SMF files, a query decodes only the
columns that it needs. If a query scans one table once, memory is constant. Otherwise the files are
read once before the query. DuckDB reads datasets itself. The zone of DuckDB is always UTC.

For small files, planning a query takes longer than running it. So all tables that the queries name
are read first, and each query is planned once, when it runs. For other inputs, the plans show which
columns to read, and are kept until they run.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from itertools import chain
from typing import Any

import duckdb

from smfparse.errors import RequestError
from smfparse.inputs.opening import Inputs
from smfparse.interrupts import interrupting
from smfparse.query.projection import Slicing, named_tables, named_views, read_by
from smfparse.query.relations import Connection, Relations, connected, forget_python, is_interrupt
from smfparse.query.results import (
    executed_part,
    executed_table,
    fetched,
    result_parts,
    result_table,
    rows_of,
    streamed,
)
from smfparse.query.scans import Spool
from smfparse.query.slices import Slices, bounded, bounded_execute, bounded_rows, settings
from smfparse.query.statements import GIVING_ROWS, NOT_ONE_QUERY, QUERIES, Statements, failure


def run_together(
    connection: Connection,
    relations: Relations,
    queries: Sequence[str],
    others: Sequence[str],
    shared: Sequence[str] = (),
) -> Iterator[Any]:
    """Yield the rows of each of `others`, then of `queries`, as a pyarrow.Table.

    If the tables of one of `queries` have no rows, the query is not run, and None is yielded.
    DuckDB uses one thread, because distributing little work costs more than the work.

    shared  macro calls that several queries contain: their rows are computed once
    """
    every = [*others, *queries]
    held = dict.fromkeys(read_by("\n".join(every)))
    with settings(connection, threads=1), relations.scans.read_once(held) as spool:
        kept = _in_tables(shared)
        for call, name in kept.items():
            relations.make(named_tables(call))
            connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS FROM {call}")
        for number, query in enumerate(every):
            read = chain.from_iterable(map(spool.batches, read_by(query)))
            if number >= len(others) and not any(batch.num_rows for batch in read):
                yield None
            else:
                yield executed_table(_run(connection, relations, _reading(kept, query)))


def run_planned(
    connection: Connection,
    relations: Relations,
    statements: Statements,
    queries: Sequence[str],
    shared: Sequence[str] = (),
) -> Iterator[Any]:
    """Yield the rows of each query as a pyarrow.Table.

    If the caller creates something in the connection between two results, DuckDB plans the
    following queries again.

    shared  macro calls that several queries contain: their rows are computed once
    """
    kept = _in_tables(call for call in shared if any(call in query for query in queries))
    for call, name in kept.items():
        relations.make(named_tables(call))
        connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS FROM {call} WITH NO DATA")
    fills = [f"INSERT INTO {name} FROM {call}" for call, name in kept.items()]
    every = [*fills, *(_reading(kept, query) for query in queries)]
    with statements.planned(every) as (plans, _):
        for number, (plan, query) in enumerate(zip(plans, every, strict=True)):
            bounded_execute(connection, f"EXECUTE {plan}" if plan else query)
            rows = executed_table(connection)
            if plan:  # DuckDB keeps hash tables until the plan is removed
                connection.execute(f"DEALLOCATE {plan}")
            if number >= len(fills):
                yield rows
    for name in kept.values():
        connection.execute(f"DROP TABLE {name}")


def _in_tables(shared: Iterable[str]) -> dict[str, str]:
    """Return the name of the table for the rows of each macro call."""
    return {call: f"shared_{number}" for number, call in enumerate(shared)}


def _reading(kept: Mapping[str, str], query: str) -> str:
    """Return a query that reads tables in place of macro calls."""
    for call, name in kept.items():
        query = query.replace(call, name)
    return query


def _run(connection: Connection, relations: Relations, query: str) -> Connection:
    """Run a query; return the connection, from which its rows are fetched.

    Its tables are created first; views only if the query cannot be bound without them.
    """
    relations.make(named_tables(query))
    try:
        return connection.execute(query)
    except (duckdb.CatalogException, duckdb.BinderException):
        relations.make((), named_views(query))
        return connection.execute(query)


_OF_THE_QUERY = (
    duckdb.ParserException,
    duckdb.BinderException,
    duckdb.CatalogException,
    duckdb.ConversionException,
    duckdb.OutOfRangeException,
    duckdb.OutOfMemoryException,
)
"""Errors of DuckDB that are caused by the query, not by the contents of datasets."""
_AT_ONCE = 1024
"""Number of rows that are fetched together."""
_SORTS = "384MB"
"""Memory limit of queries that compute few rows from many: rules sort wide rows for their windows,
which takes twice the time on disk."""
_DONE = (["Count"], ["Success"])
"""Columns of DuckDB's result for a statement without rows."""


class Catalog:
    """The tables and views of `inputs` in DuckDB. Use it in a `with` block, or close it.

    In the schema `inputs`, each has a column `input_no`: 0 for SMF files, which `source`
    distinguishes, and a number for each dataset, or 0 if `safe`.

    safe  whether statements can use only the tables: no file, no network, no setting
    zone  the zone of the local times; None: that of each z/OS system
    held  rows of queries, as pyarrow.Tables by their names in SQL
    """

    def __init__(self, inputs: Inputs, *, safe: bool = False) -> None:
        self.connection = connected(safe=safe)
        self.connection.execute("CREATE SCHEMA inputs")
        self._safe = safe
        self.inputs = inputs
        self._relations = Relations(self.connection, inputs, safe=safe)
        self._statements = Statements(self.connection, self._relations)
        self.of_queues = inputs.of_queues
        self.zone = inputs.zone
        self.held: dict[str, Any] = {}

    def __enter__(self) -> Catalog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()

    def with_everything(self) -> Connection:
        """Return the connection with all tables and views, which keep the data that they read."""
        self._relations.make_all()
        return self.connection

    def define(self, macros: str) -> None:
        """Create macros; tables named in them must exist only at their use. Raises RequestError."""
        with self._guarded(macros):
            self.connection.execute(macros)

    def execute(self, statement: str) -> None:
        """Run a statement without rows. Raises RequestError."""
        with self._guarded(statement):
            self._relations.make(named_tables(statement), named_views(statement))
            self.connection.execute(statement)

    def statements(self, script: str) -> list[str]:
        """Return the statements of a script, each without its final semicolon.

        Raises RequestError if a statement cannot be parsed.
        """
        with self._guarded(script):
            return self._statements.split(script)

    def run(self, statement: str) -> Generator[Any, None, None]:
        """Run any statement; yield its rows as pyarrow.Tables, none for a statement without rows.

        The first table is empty. Columns have distinct names and types that every format can show:
        nested, binary and interval columns become text. Raises RequestError if the statement fails.
        """
        with self._guarded(statement), self._statements.prepared([statement]) as (kind,):
            found = self.connection.sql(statement)
            if kind not in QUERIES and found.columns in _DONE:
                return
            yield from result_parts(found)

    def hold(self, name: str, table: Any) -> None:
        """Keep rows, so that SQL can read them under this name."""
        self.connection.register(name, table)
        self.held[name] = table

    def set_variable(self, name: str, value: Any) -> None:
        """Set the result of `getvariable(name)` in SQL."""
        self.connection.execute(f'SET VARIABLE "{name}" = ?', [value])

    def arrow(self, query: str) -> Any:
        """Return the rows of `query` as a pyarrow.Table. Raises RequestError if it fails.

        Sums of integers, which have 128 bits in DuckDB, are int64 or uint64 if their values fit.
        """
        (found,) = self.arrows([query])
        return found

    def arrows_of_filled(
        self, queries: Sequence[str], others: Sequence[str] = (), shared: Sequence[str] = ()
    ) -> Generator[Any, None, None]:
        """Yield small results like `arrows`, those of `others` first.

        None is yielded in place of an empty result if the tables of one of `queries` are empty.

        Each query is planned once, if nothing is created in the connection meanwhile.

        shared  macro calls that several queries contain: their rows are computed once
        """
        every = [*others, *queries]
        with self._guarded("\n".join(every)):
            if self._relations.are_small_files and not self._safe:
                yield from run_together(self.connection, self._relations, queries, others, shared)
            else:
                with nullcontext() if self._safe else bounded(self.connection, memory_limit=_SORTS):
                    yield from run_planned(
                        self.connection, self._relations, self._statements, every, shared
                    )

    def arrows(self, queries: Sequence[str]) -> Generator[Any, None, None]:
        """Yield the rows of each of `queries` as `arrow` does; SMF files are read once for all.

        Nothing is yielded if one of the queries cannot be prepared.
        """
        with self._guarded("\n".join(queries)), self._statements.prepared(queries) as kinds:
            if not all(kind in GIVING_ROWS for kind in kinds):
                raise RequestError(NOT_ONE_QUERY)
            for query in queries:
                yield result_table(self.connection.sql(query))

    def rows(
        self, query: str, slicing: Slicing | None = None
    ) -> Generator[list[dict[str, Any]], None, None]:
        """Yield the rows of `query` in batches; the query itself orders the rows.

        DuckDB plans a query once if it reads little. Otherwise it is planned again, and runs on one
        slice after the other if possible. Raises RequestError if the query fails.
        """
        with self._guarded(query), self._statements.planned([query], slicing) as ((name,), spool):
            if name and _is_little(self._relations, spool):
                with _run_by_one(self.connection, f"EXECUTE {name}", safe=self._safe):
                    yield from fetched(self.connection, _AT_ONCE)
                return
            for part in _parts(self, query, slicing, spool):
                yield rows_of(part)

    def parts(self, query: str, slicing: Slicing | None = None) -> Generator[Any, None, None]:
        """Yield the rows as in `rows`, but as one or more pyarrow.Tables with 128-bit integers."""
        with self._guarded(query), self._statements.planned([query], slicing) as ((name,), spool):
            if name and _is_little(self._relations, spool):
                with _run_by_one(self.connection, f"EXECUTE {name}", safe=self._safe):
                    yield executed_part(self.connection)
            else:
                yield from _parts(self, query, slicing, spool)

    @contextmanager
    def _guarded(self, query: str) -> Iterator[None]:
        """Raise the cause of errors of DuckDB, and of Arrow (OSErrors without errno)."""
        self._relations.scans.failure = None
        try:
            with interrupting(self.connection.interrupt):
                if not self._safe:  # settings of a safe connection are locked
                    forget_python(self.connection)
                yield
        except (duckdb.Error, RuntimeError, OSError) as error:
            if is_interrupt(error):
                raise KeyboardInterrupt from error
            if self._relations.scans.failure is not None:
                raise self._relations.scans.failure from error
            if not isinstance(error, _OF_THE_QUERY):
                self._relations.check()
            if isinstance(error, duckdb.Error) or getattr(error, "errno", 0) is None:
                names = [*named_tables(query), *named_views(query)]
                denied = self._safe and isinstance(error, duckdb.PermissionException)
                large = isinstance(error, duckdb.OutOfMemoryException)
                raise failure(str(error), names, denied=denied, large=large) from error
            raise


def _is_little(relations: Relations, spool: Spool | None) -> bool:
    """Whether the spooled data is so small that the rows of a query fit into memory."""
    return spool is not None and spool.bytes <= relations.few_bytes


@contextmanager
def _run_by_one(connection: Connection, statement: str, *, safe: bool) -> Iterator[None]:
    """Run a statement on few rows with one thread if possible, because distribution costs more."""
    with nullcontext() if safe else settings(connection, threads=1):
        connection.execute(statement)
        yield


def _parts(
    catalog: Catalog, query: str, slicing: Slicing | None, spool: Spool | None
) -> Iterator[Any]:
    if catalog._safe:
        return _unbounded(catalog.connection, query)
    return _bounded(catalog.connection, catalog._relations, query, slicing, spool)


def _unbounded(connection: Connection, query: str) -> Iterator[Any]:
    """Yield the rows of `query` without a memory limit and without slices."""
    with settings(connection, preserve_insertion_order=False):
        yield from streamed(connection.sql(query), _AT_ONCE)


def _bounded(
    connection: Connection,
    relations: Relations,
    query: str,
    slicing: Slicing | None,
    spool: Spool | None,
) -> Iterator[Any]:
    """Yield the rows of `query`, slice by slice if this is possible and the rows are many."""
    count = -(-spool.bytes // relations.limits.slice_bytes) if spool else 1
    with bounded(connection):
        if slicing is None or spool is None or count <= 1:
            yield from bounded_rows(connection, query, _AT_ONCE)
            return
        with Slices(connection, relations, slicing).made_of(spool, count) as each:
            for _ in each:
                yield from bounded_rows(connection, slicing.query, _AT_ONCE)
