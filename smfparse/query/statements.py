"""SQL statements: their types, preparations before they run, and hints if they fail.

Hints are names similar to an unknown name, and types for large results.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import chain
from typing import Any

import duckdb

from smfparse.decoding.dictionary import near_names
from smfparse.errors import QueryError, RequestError, SmfError
from smfparse.metrics.views import columns_meant, columns_of, relations
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
from smfparse.query.relations import Connection, Relations, is_interrupt
from smfparse.query.scans import Spool
from smfparse.rendering.figures import few

_SEVERAL = 2
"""Assumed number of scans of a statement whose plan does not show it."""
_PLANNED = "planned_"
"""Prefix of the names of queries that are planned to run once; a number follows."""
QUERIES = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)
NOT_ONE_QUERY = "expected one query that returns rows; give a single SELECT"
GIVING_ROWS = (*QUERIES, duckdb.StatementType.MULTI)
"""Types of statements with rows. PIVOT is MULTI: its first statement determines the columns."""
_EXPLAIN = re.compile(
    r"(?:\s|--[^\n]*\n|/\*.*?\*/)*explain\s+(?:analyze\s+)?(?:\([^)]*\)\s*)?", re.I | re.S
)
"""The words before a query that is explained; comments can precede them."""


class Statements:
    """Prepares statements: creates the tables that they read; reads files before if necessary."""

    def __init__(self, connection: Connection, relations: Relations) -> None:
        self._connection = connection
        self._relations = relations

    def split(self, script: str) -> list[str]:
        """Return the statements of a script, each without its final semicolon."""
        return [_open(each.query) for each in self._connection.extract_statements(script)]

    @contextmanager
    def prepared(self, statements: Iterable[str]) -> Iterator[list[Any]]:
        """Create the tables that statements read; read the files once if there are several scans.

        Yields the type of each statement; None: a type that duckdb does not name. Raises
        RequestError unless each text is exactly one statement.
        """
        kinds, reads = [], []
        for each in statements:
            found = self._connection.extract_statements(each)
            if len(found) != 1:
                raise RequestError(NOT_ONE_QUERY)
            kinds.append(_kind(found[0]))
            reads.append(self._reads(each, kinds[-1]))
        wanted = read_first(reads)
        with self._relations.scans.read_once(wanted) if wanted else nullcontext():
            yield kinds

    @contextmanager
    def planned(
        self, queries: Sequence[str], slicing: Slicing | None = None
    ) -> Iterator[tuple[list[str | None], Spool | None]]:
        """Plan each query once, and read the files once if there are several scans.

        Yields the names of the prepared statements (None: the plan does not show the data that it
        reads), and the data that was read. If the caller creates something in the connection,
        DuckDB plans the queries again.

        slicing  slices of the queries; None: the queries cannot run in slices
        """
        self._relations.make(dict.fromkeys(chain.from_iterable(map(named_tables, queries))))
        names: list[str | None] = []
        plans = []
        for number, query in enumerate(queries):
            name = f"{_PLANNED}{number}"
            plan = self._plan(query, name)
            if plan is None:
                self._bind(query)
            plans.append(plan or self._whole(query))
            names.append(name if plan else None)
        wanted = read_first(plans, slicing)
        with self._relations.scans.read_once(wanted) if wanted else nullcontext() as spool:
            yield names, spool

    def _reads(self, statement: str, kind: Any) -> Plan:
        """Create the tables and views that a statement reads; return the data that it reads."""
        self._relations.make_plain(named_tables(statement))
        if kind == duckdb.StatementType.MULTI:
            return self._whole(statement)
        explain = _EXPLAIN.match(statement)
        inner = statement[explain.end() :] if explain else statement
        plan = self._plan(inner)
        if explain and "analyze" not in explain[0].lower():
            return NOTHING
        if plan is not None:
            return plan
        if kind not in QUERIES:
            return NOTHING
        self._bind(inner)
        return self._whole(inner)

    def _whole(self, statement: str) -> Plan:
        """Create the tables and views that a statement names; return a plan for all columns."""
        self._relations.make(named_tables(statement), named_views(statement))
        if not self._relations.scans.inputs.sources:
            return NOTHING
        return Plan(dict.fromkeys(read_by(statement)), _SEVERAL)

    def _bind(self, query: str) -> None:
        """Raise DuckDB's error for a query that cannot be bound, with the place of the error."""
        try:
            self._connection.sql(query)
        except duckdb.Error as error:
            if not is_interrupt(error):
                self._connection.execute(query)  # fails too, with the place in its message
            raise

    def _plan(self, query: str, name: str = "") -> Plan | None:
        """Create the tables and views that `query` reads; return its `Plan`, or None if unknown.

        Names of views are words in many queries that do not read them, and views take longer to
        create than tables. So a view is created only if the query cannot be bound without it.

        name  name of the plan, for `EXECUTE name`; '': the plan is not kept
        """
        self._relations.make(named_tables(query))
        plan = self._explained(query, name)
        if plan is None and (found := named_views(query)):
            self._relations.make((), found)
            plan = self._explained(query, name)
        if plan is None or plan.lists_views:
            self._relations.make_all()
        return plan or self._explained(query, name)

    def _explained(self, query: str, name: str) -> Plan | None:
        try:
            if name:
                self._connection.execute(f"PREPARE {name} AS {query}")
                query = f"EXECUTE {name}"
            ((_, text),) = self._connection.execute(f"EXPLAIN (FORMAT JSON) {query}").fetchall()
        except duckdb.Error as error:
            if is_interrupt(error):
                raise
            return None
        return read_plan(text)


def _kind(statement: duckdb.Statement) -> Any:
    try:
        return statement.type
    except ValueError:
        return None


def is_complete(text: str) -> bool:
    """Whether SQL that a user is entering ends with the semicolon of a statement."""
    return _end(text) is not None


def _open(statement: str) -> str:
    """Return a statement without its final semicolon and the text after the semicolon."""
    return statement.encode()[: _end(statement)].decode()


def _end(text: str) -> int | None:
    """Return the byte of the first semicolon that only semicolons and comments follow, or None."""
    raw, end = text.encode(), None
    for at, kind in reversed(duckdb.tokenize(text)):
        if raw[at:].startswith(b";"):
            end = at
        elif kind is not duckdb.token_type.comment:
            break
    return end


_COLUMN = re.compile(r'[Cc]olumn (?:named )?"([^"]+)"')
_TABLE = re.compile(r"Table with name (\w+) does not exist")
_SUGGESTION = re.compile(r'\nDid you mean "(\w+)[^\n]*')
_OVERFLOW = re.compile(r"^Out of Range Error: Overflow in \w+ of U?INT")
_WIDER = "the result does not fit the type; use doubles: column::DOUBLE, or 4096e0 instead of 4096"
_PLACE = "\n\nLINE "
"""The text before the line of the query in which DuckDB found an error."""
_MAXIMUM_NAMES = 5
_SAFE_MODE = "with safe=True a statement can use only the tables of the inputs"


def failure(message: str, tables: Iterable[str], *, denied: bool, large: bool) -> SmfError:
    """Return the error to raise for a `message` of DuckDB.

    tables  the tables and views that the query names
    denied  whether the query needs access that safe=True does not allow
    large   whether the query needs more memory than available
    """
    if large:
        reason, _, _ = message.partition("\n")
        return SmfError(f"{reason}; select fewer rows or columns")
    message = hinted(message, tables)
    return QueryError(f"{message}\n{_SAFE_MODE}", "safe") if denied else QueryError(message)


def hinted(message: str, tables: Iterable[str]) -> str:
    """Return a message of DuckDB with a hint: where an unknown name exists, or similar names.

    tables  the tables and views that the query names
    """
    column, table = _COLUMN.search(message), _TABLE.search(message)
    meant = _SUGGESTION.search(message)
    if meant and meant[1] not in relations():  # a table of DuckDB itself
        message = message.replace(meant[0], "")
    if column and "mbiguous" not in message:
        hint = _of_column(column[1], list(tables), message)
    elif table:
        hint = _of_table(table[1], message)
    elif _OVERFLOW.match(message):
        hint = _WIDER
    else:
        return message
    what, place, line = message.partition(_PLACE)
    return f"{what}\n{hint}{place}{line}" if hint else message


def _of_column(name: str, tables: list[str], message: str) -> str:
    places = [(table, each.name) for table, each in columns_meant(name) if table not in tables]
    if places:
        return _tables_of(places)
    known = dict.fromkeys(each.name for table in tables for each in columns_of(table))
    near = [each for each in known if each.startswith(name.lower())]
    near += difflib.get_close_matches(name.lower(), known, n=_MAXIMUM_NAMES)
    missing = f"no column {name} in {', '.join(tables)}" if tables else f"no column {name}"
    return _near(missing, near, message)


def _of_table(name: str, message: str) -> str:
    places = [(table, each.name) for table, each in columns_meant(name)]
    if places:
        return _tables_of(places)
    known = relations()
    tables = [each for each in near_names(name, known) if each in known]
    tables += difflib.get_close_matches(name.lower(), known, n=_MAXIMUM_NAMES)
    return _near(f"no table {name}", tables, message)


def _tables_of(places: list[tuple[str, str]]) -> str:
    """Return the hint with the tables that contain a column, and its name in each table."""
    found = [f"{table}.{column}" for table, column in places]
    return f"found: {few(found, _MAXIMUM_NAMES)}"


def _near(missing: str, near: Iterable[str], message: str) -> str:
    """Return the hint with similar names; '' if DuckDB's message contains all of them."""
    names = list(dict.fromkeys(near))[:_MAXIMUM_NAMES]
    if all(f'"{each}"' in message for each in names):
        return ""
    return f"{missing}; near: {', '.join(names)}"
