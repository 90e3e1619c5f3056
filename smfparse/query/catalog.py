"""A DuckDB connection that has every table and view of the inputs.

They are made when a query names them. Of SMF files a query decodes the columns that it
needs, in constant memory where it scans one table once; else the files are read once before it.
Datasets are read by DuckDB itself. The zone is UTC, whatever the workstation's.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from types import TracebackType
from typing import Any

import duckdb

from smfparse.errors import RequestError
from smfparse.inputs import Inputs
from smfparse.interrupts import interrupting
from smfparse.query.bounded import bounded, bounded_rows, settings
from smfparse.query.connecting import Connection, connected, forget_python, is_interrupt
from smfparse.query.hints import failure
from smfparse.query.projection import (
    NOTHING,
    Plan,
    Slicing,
    named_tables,
    named_views,
    read_by,
    read_first,
    read_plan,
)
from smfparse.query.relations import Relations
from smfparse.query.results import fetched, result_parts, result_table, streamed
from smfparse.query.scans import Spool
from smfparse.query.slices import Slices
from smfparse.query.together import run_together

_OF_THE_QUERY = (
    duckdb.ParserException,
    duckdb.BinderException,
    duckdb.CatalogException,
    duckdb.ConversionException,
    duckdb.OutOfRangeException,
    duckdb.OutOfMemoryException,
)
"""Errors of DuckDB that have their reason in the query, whatever the datasets hold."""
_SEVERAL = 2
"""Scans of a statement whose plan does not show how many there are."""
_AT_ONCE = 1024
"""Rows that are fetched at once."""
_PLANNED = "planned"
"""The name of the query that was planned last to run once."""
_FEW_BYTES = 8 << 20
"""Bytes of rows read first, up to which the result of a query is held in memory."""
_QUERIES = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)
_GIVING_ROWS = (*_QUERIES, duckdb.StatementType.MULTI)
"""PIVOT is several statements in one: the first finds out which columns there are."""
_NOT_ONE_QUERY = "expected one query that returns rows; give a single SELECT"
_DONE = (["Count"], ["Success"])
"""Columns of DuckDB's answer to a statement that gives no rows."""
_EXPLAIN = re.compile(
    r"(?:\s|--[^\n]*\n|/\*.*?\*/)*explain\s+(?:analyze\s+)?(?:\([^)]*\)\s*)?", re.I | re.S
)
"""What stands before a query that is explained; comments may stand before that."""


class Statements:
    """Statements before they run: what each reads is made, and read first where it has to be."""

    def __init__(self, connection: Connection, relations: Relations) -> None:
        self._connection = connection
        self._relations = relations

    def split(self, script: str) -> list[str]:
        """Return the statements of a script, each without the semicolon that ends it."""
        return [_open(each.query) for each in self._connection.extract_statements(script)]

    @contextmanager
    def prepared(self, statements: Iterable[str]) -> Iterator[list[Any]]:
        """Make what statements read; read the files first where they scan more than once.

        Yields the type of each; None: one that duckdb has no name for. Raises RequestError unless
        each text is exactly one statement.
        """
        kinds, reads = [], []
        for each in statements:
            found = self._connection.extract_statements(each)
            if len(found) != 1:
                raise RequestError(_NOT_ONE_QUERY)
            kinds.append(_kind(found[0]))
            reads.append(self._reads(each, kinds[-1]))
        wanted = read_first(reads)
        with self._relations.scans.read_once(wanted) if wanted else nullcontext():
            yield kinds

    @contextmanager
    def planned(self, query: str) -> Iterator[tuple[bool, Spool | None]]:
        """Plan a query once, for `EXECUTE planned`, and read the files first where it has to be.

        Yields whether it reads so little that its rows can all be in memory, and what was read.
        """
        plan = self._plan(query, f"PREPARE {_PLANNED} AS ")
        if plan is None:
            self._bind(query)
        wanted = read_first([plan or self._whole(query)])
        with self._relations.scans.read_once(wanted) if wanted else nullcontext() as spool:
            few = min(_FEW_BYTES, self._relations.limits.slice_bytes)
            yield plan is not None and spool is not None and spool.bytes <= few, spool

    def _reads(self, statement: str, kind: Any) -> Plan:
        """Make what a statement reads; return that."""
        if kind == duckdb.StatementType.MULTI:
            return self._whole(statement)
        explain = _EXPLAIN.match(statement)
        inner = statement[explain.end() :] if explain else statement
        plan = self._plan(inner)
        if explain and "analyze" not in explain[0].lower():
            return NOTHING
        if plan is not None:
            return plan
        if kind not in _QUERIES:
            return NOTHING
        self._bind(inner)
        return self._whole(inner)

    def _whole(self, statement: str) -> Plan:
        """Make the tables and views that a statement names; return that it reads them whole."""
        self._relations.make(named_tables(statement), named_views(statement))
        if not self._relations.scans.inputs.sources:
            return NOTHING
        return Plan(dict.fromkeys(read_by(statement)), _SEVERAL)

    def _bind(self, query: str) -> None:
        """Raise the error of DuckDB for a query that it cannot bind, with its place there."""
        try:
            self._connection.sql(query)
        except duckdb.Error as error:
            if not is_interrupt(error):
                self._connection.execute(query)  # it fails as well, and its message has the place
            raise

    def _plan(self, query: str, prepare: str = "") -> Plan | None:
        """Make what `query` reads; return what that is, None where the plan does not show it.

        Views have names that are words of many queries which do not read them, and take longer to
        make than tables; so they are made where it shows that they are wanted.

        prepare  what stands before the query for its plan to be kept; '': it is not kept
        """
        self._relations.make(named_tables(query))
        plan = self._explained(query, prepare)
        if plan is None and (found := named_views(query)):
            self._relations.make((), found)
            plan = self._explained(query, prepare)
        if plan is None or plan.lists_views:
            self._relations.make_all()
        return plan or self._explained(query, prepare)

    def _explained(self, query: str, prepare: str) -> Plan | None:
        try:
            if prepare:
                self._connection.execute(f"{prepare}{query}")
                query = f"EXECUTE {_PLANNED}"
            ((_, text),) = self._connection.execute(f"EXPLAIN (FORMAT JSON) {query}").fetchall()
        except duckdb.Error as error:
            if is_interrupt(error):
                raise
            return None
        return read_plan(text)


class Catalog:
    """The tables and views of `inputs` in DuckDB. Use it in a `with` block, or close it.

    The schema `inputs` has them with `input_no`: 0 for SMF files, which `source` distinguishes,
    and a number for each dataset, or 0 where `safe` is.

    safe  whether statements reach nothing but the tables: no file, no network, no setting
    """

    def __init__(self, inputs: Inputs, *, safe: bool = False) -> None:
        self.connection = connected(safe=safe)
        self.connection.execute("CREATE SCHEMA inputs")
        self._safe = safe
        self._relations = Relations(self.connection, inputs, safe=safe)
        self._statements = Statements(self.connection, self._relations)
        self.of_queues = inputs.of_queues

    def __enter__(self) -> Catalog:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()

    def with_everything(self) -> Connection:
        """Return the connection, which has every table and view then and keeps what they read."""
        self._relations.make_all()
        return self.connection

    def define(self, macros: str) -> None:
        """Make macros, which need what they name only when they are used. Raises RequestError."""
        with self._guarded(macros):
            self.connection.execute(macros)

    def execute(self, statement: str) -> None:
        """Run a statement that gives no rows. Raises RequestError."""
        with self._guarded(statement):
            self._relations.make(named_tables(statement), named_views(statement))
            self.connection.execute(statement)

    def statements(self, script: str) -> list[str]:
        """Return the statements of a script, each without the semicolon that ends it.

        Raises RequestError where one cannot be read.
        """
        with self._guarded(script):
            return self._statements.split(script)

    def run(self, statement: str) -> Generator[Any, None, None]:
        """Run any statement; yield its rows as pyarrow.Tables, none where it gives no rows.

        The first has no rows. Columns have names of their own and types that every format can show:
        nested, binary and interval columns become text. Raises RequestError where it fails.
        """
        with self._guarded(statement), self._statements.prepared([statement]) as (kind,):
            found = self.connection.sql(statement)
            if kind not in _QUERIES and found.columns in _DONE:
                return
            yield from result_parts(found)

    def set_variable(self, name: str, value: Any) -> None:
        """Set what `getvariable(name)` gives in SQL."""
        self.connection.execute(f'SET VARIABLE "{name}" = ?', [value])

    def arrow(self, query: str) -> Any:
        """Return the rows of `query` as a pyarrow.Table. Raises RequestError where it fails.

        Sums of integers, which have 128 bits in DuckDB, are int64 or uint64 where they fit.
        """
        (found,) = self.arrows([query])
        return found

    def arrows_of_filled(
        self, queries: Sequence[str], others: Sequence[str] = ()
    ) -> Generator[Any, None, None]:
        """Yield rows as `arrows` does; None: of `queries` whose tables are known to be empty."""
        if self._relations.are_small_files and not self._safe:
            with self._guarded("\n".join([*queries, *others])):
                yield from run_together(self.connection, self._relations, queries, others)
        else:
            yield from self.arrows([*queries, *others])

    def arrows(self, queries: Sequence[str]) -> Generator[Any, None, None]:
        """Yield the rows of each of `queries` as `arrow` does; SMF files are read once for all.

        Nothing is yielded if one of them cannot be prepared.
        """
        with self._guarded("\n".join(queries)), self._statements.prepared(queries) as kinds:
            if not all(kind in _GIVING_ROWS for kind in kinds):
                raise RequestError(_NOT_ONE_QUERY)
            for query in queries:
                yield result_table(self.connection.sql(query))

    def rows(
        self, query: str, slicing: Slicing | None = None
    ) -> Generator[list[dict[str, Any]], None, None]:
        """Yield the rows of `query`, which orders them, some at a time.

        DuckDB plans it once where it reads little; else it is planned again, for one slice after
        the other if it can be run so. Raises RequestError where the query fails.
        """
        with (
            self._guarded(query),
            self._statements.planned(query) as (is_little, spool),
        ):
            if is_little:
                self.connection.execute(f"EXECUTE {_PLANNED}")
                yield from fetched(self.connection, _AT_ONCE)
                return
            if self._safe:
                with settings(self.connection, preserve_insertion_order=False):
                    yield from streamed(self.connection.sql(query), _AT_ONCE)
                return
            with bounded(self.connection):
                yield from _bounded(self._relations, self.connection, query, slicing, spool)

    @contextmanager
    def _guarded(self, query: str) -> Iterator[None]:
        """Raise the error behind one of DuckDB, or of Arrow: an OSError without a number."""
        self._relations.scans.failure = None
        try:
            with interrupting(self.connection.interrupt):
                if not self._safe:  # there, no setting can be changed
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


def _bounded(
    relations: Relations,
    connection: Connection,
    query: str,
    slicing: Slicing | None,
    spool: Spool | None,
) -> Iterator[list[dict[str, Any]]]:
    """Yield the rows of `query`, made slice by slice if it can be and they are many."""
    count = -(-spool.bytes // relations.limits.slice_bytes) if spool else 1
    if slicing is None or spool is None or count == 1:
        yield from bounded_rows(connection, query, _AT_ONCE)
        return
    with Slices(connection, relations, slicing).made_of(spool, count) as each:
        for _ in each:
            yield from bounded_rows(connection, slicing.query, _AT_ONCE)


def _kind(statement: duckdb.Statement) -> Any:
    try:
        return statement.type
    except ValueError:
        return None


def is_complete(text: str) -> bool:
    """Whether SQL that is being written ends with the semicolon of a statement."""
    return _end(text) is not None


def _open(statement: str) -> str:
    """Return a statement without semicolon and what is behind it."""
    return statement.encode()[: _end(statement)].decode()


def _end(text: str) -> int | None:
    """Return the byte of the first semicolon that only others and comments are behind, or None."""
    raw, end = text.encode(), None
    for at, kind in reversed(duckdb.tokenize(text)):
        if raw[at:].startswith(b";"):
            end = at
        elif kind is not duckdb.token_type.comment:
            break
    return end
