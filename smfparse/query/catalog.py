"""A DuckDB connection that has every table and view of the inputs.

They are made when a query names them. Of SMF files a query decodes the columns that it
needs, in constant memory where it scans one table once; else the files are read once before it.
Datasets are read by DuckDB itself. The zone is UTC, whatever the workstation's.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

import duckdb

from smfparse.errors import InputError, RequestError
from smfparse.inputs import Dataset, Inputs
from smfparse.interrupts import interrupting
from smfparse.query.connecting import Connection, connected, forget_python
from smfparse.query.hints import failure
from smfparse.query.projection import Plan, named_tables, named_views, read_plan, scanned, tables_of
from smfparse.query.results import result_parts, result_table
from smfparse.query.scans import Scan, SmfScans
from smfparse.selecting import COUNTED_AT, sql_condition
from smfparse.store import selected
from smfparse.tables import (
    Wanted,
    columns,
    quoted,
    table_names,
    title,
    view,
    view_macros,
    view_names,
)

_INTERRUPTED = re.compile(r"(Query interrupted|INTERRUPT Error)|.*\bKeyboardInterrupt: *$", re.S)
"""An error of DuckDB, or an OSError of Arrow, that is a KeyboardInterrupt, which may be in Python
code that they call."""
_OF_THE_QUERY = (
    duckdb.ParserException,
    duckdb.BinderException,
    duckdb.CatalogException,
    duckdb.ConversionException,
    duckdb.OutOfRangeException,
    duckdb.OutOfMemoryException,
)
"""Errors of DuckDB that have their reason in the query, whatever the datasets hold."""
_STREAMED = 1024
"""Rows of a batch of a stream."""
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


class Relations:
    """The tables and views of inputs that were made in a connection so far.

    scans  the inputs that DuckDB does not read itself: SMF files, and in a safe connection all
    """

    def __init__(self, connection: Connection, inputs: Inputs, *, safe: bool) -> None:
        raw = [each for each in inputs.sources if safe or not isinstance(each, Dataset)]
        self.scans = SmfScans(replace(inputs, sources=raw))
        self._connection = connection
        self._selection = inputs.selection
        datasets = (each for each in inputs.sources if isinstance(each, Dataset))
        self._datasets = [] if safe else [*datasets]
        self._made: set[str] = set()

    def make(self, tables: Iterable[str], found: Sequence[str] = ()) -> None:
        """Make `tables` and the views `found`, with what these read, if they are not there yet."""
        try:
            for table in (*tables, *tables_of(found)):
                if table not in self._made:
                    self._add(table)
                    self._made.add(table)
            for name in found:
                if name not in self._made:
                    self._add_view(name)
                    self._made.add(name)
        except duckdb.Error as error:
            if not self._datasets or _is_interrupt(error):
                raise
            names = ", ".join(each.name for each in self._datasets)
            reason, _, _ = str(error).partition("\n")  # behind it is SQL that nobody wrote
            raise InputError(f"{names}: the dataset cannot be read: {reason}") from error

    def check(self) -> None:
        """Read the datasets that were read through. Raises InputError where one is damaged."""
        for each in self._datasets:
            for table in self._made.intersection(table_names()):
                each.read_through(table)

    def _add(self, table: str) -> None:
        parts = []
        if self.scans.inputs.sources:
            self._connection.register(f"smf_{table}", Scan(self.scans, table))
            names = [f'{scanned(table, each.name)} AS "{each.name}"' for each in columns(table)]
            parts.append(f"SELECT 0 AS input_no, {', '.join(names)} FROM smf_{table}")
        for number, each in enumerate(self._datasets, 1):
            worked_out = any(COUNTED_AT in less for _, less in each.files_alike(table))
            chosen = sql_condition(
                self._selection.on(table), table, partial(_parquet, each), worked_out=worked_out
            )
            where = f" WHERE {chosen}" if chosen else ""
            parts.append(f"SELECT {number} AS input_no, * FROM {_parquet(each, table)}{where}")
        rows = " UNION ALL BY NAME ".join(parts)
        self._connection.execute(
            f"CREATE VIEW inputs.{table} AS {rows};"
            f"CREATE VIEW {table} AS SELECT * EXCLUDE (input_no) FROM inputs.{table};"
            f"COMMENT ON VIEW {table} IS {quoted(title(table))}"
        )

    def _add_view(self, name: str) -> None:
        if not self._made.intersection(view_names()):
            self._connection.execute(view_macros())
        for statement in view(name).statements():
            self._connection.execute(statement)

    def make_all(self) -> None:
        """Make every table and view."""
        self.make(table_names(), view_names())


class Statements:
    """Statements before they run: what each reads is made, and read first where it has to be."""

    def __init__(self, connection: Connection, relations: Relations) -> None:
        self._connection = connection
        self._relations = relations

    def split(self, script: str) -> list[str]:
        """Return the statements of a script, each without the semicolon that ends it."""
        return [_open(each.query) for each in self._connection.extract_statements(script)]

    @contextmanager
    def prepared(self, statement: str) -> Iterator[Any]:
        """Make what a statement reads, and read the files first where it scans more than once.

        Yields the type of the statement; None: one that duckdb has no name for. Raises RequestError
        unless there is exactly one.
        """
        found = self._connection.extract_statements(statement)
        if len(found) != 1:
            raise RequestError(_NOT_ONE_QUERY)
        kind = _kind(found[0])
        wanted = self._read_first(statement, kind)
        with self._relations.scans.read_once(wanted) if wanted else nullcontext():
            yield kind

    def _read_first(self, statement: str, kind: Any) -> Wanted:
        """Make what a statement reads; return what it scans more than once altogether."""
        if kind == duckdb.StatementType.MULTI:
            return self._whole(statement)
        explain = _EXPLAIN.match(statement)
        inner = statement[explain.end() :] if explain else statement
        plan = self._plan(inner)
        if explain and "analyze" not in explain[0].lower():
            return {}
        if plan is not None:
            return plan.columns if plan.scans > 1 else {}
        if kind not in _QUERIES:
            return {}
        self._bind(inner)
        return self._whole(inner)

    def _whole(self, statement: str) -> Wanted:
        """Make the tables and views that a statement names; return those of SMF files."""
        tables, found = named_tables(statement), named_views(statement)
        self._relations.make(tables, found)
        any_file = bool(self._relations.scans.inputs.sources)
        return dict.fromkeys([*tables, *tables_of(found)] if any_file else [])

    def _bind(self, query: str) -> None:
        """Raise the error of DuckDB for a query that it cannot bind, with its place there."""
        try:
            self._connection.sql(query)
        except duckdb.Error as error:
            if not _is_interrupt(error):
                self._connection.execute(query)  # it fails as well, and its message has the place
            raise

    def _plan(self, query: str) -> Plan | None:
        """Make what `query` reads; return what that is, None where the plan does not show it.

        Views have names that are words of many queries which do not read them, and take longer to
        make than tables; so they are made where it shows that they are wanted.
        """
        self._relations.make(named_tables(query))
        plan = self._explained(query)
        if plan is None and (found := named_views(query)):
            self._relations.make((), found)
            plan = self._explained(query)
        if plan is None or plan.lists_views:
            self._relations.make_all()
        return plan or self._explained(query)

    def _explained(self, query: str) -> Plan | None:
        try:
            ((_, text),) = self._connection.execute(f"EXPLAIN (FORMAT JSON) {query}").fetchall()
        except duckdb.Error as error:
            if _is_interrupt(error):
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
        with self._guarded(statement), self._statements.prepared(statement) as kind:
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
        with self._guarded(query), self._statements.prepared(query) as kind:
            if kind not in _GIVING_ROWS:
                raise RequestError(_NOT_ONE_QUERY)
            return result_table(self.connection.sql(query))

    def stream(self, query: str) -> Generator[Any, None, None]:
        """Yield the rows of `query`, which orders them, as pyarrow.RecordBatches.

        Where memory is short DuckDB sorts on disk. Raises RequestError where the query fails.
        """
        with self._guarded(query), self._statements.prepared(query), self._order_of_rows_is_free():
            yield from self.connection.sql(query).to_arrow_reader(_STREAMED)

    @contextmanager
    def _order_of_rows_is_free(self) -> Iterator[None]:
        """Let DuckDB take rows as they come; to keep their order it needs them all in memory."""
        self.connection.execute("SET preserve_insertion_order = false")
        try:
            yield
        finally:
            self.connection.execute("SET preserve_insertion_order = true")

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
            if _is_interrupt(error):
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


def _kind(statement: duckdb.Statement) -> Any:
    try:
        return statement.type
    except ValueError:
        return None


def _is_interrupt(error: Exception) -> bool:
    return isinstance(error, duckdb.InterruptException) or bool(_INTERRUPTED.match(str(error)))


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


def _parquet(dataset: Dataset, table: str) -> str:
    """Return a table of a dataset as it stands behind FROM; DuckDB takes paths as patterns."""
    parts = (_rows_of(table, *each) for each in dataset.files_alike(table))
    rows = f"({' UNION ALL '.join(parts)})"
    if not dataset.called:
        return rows
    words = (f"WHEN {quoted(old)} THEN {quoted(new)}" for old, new in dataset.called.items())
    source = f"CASE source {' '.join(words)} ELSE source END"
    return f"(SELECT * REPLACE ({source} AS source) FROM {rows})"


def _rows_of(table: str, files: Iterable[Path], less: frozenset[str]) -> str:
    """Return the query for the rows in files of a table, which lack the columns `less`."""
    paths = (glob.escape(str(each.absolute())) for each in files)
    rows = f"read_parquet([{', '.join(map(quoted, paths))}], hive_partitioning = false)"
    return f"SELECT {selected(table, less)} FROM {rows}"
