"""Statements: the kind of each, and the preparation before it runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import chain
from typing import Any

import duckdb

from smfparse.errors import RequestError
from smfparse.query.connecting import Connection, is_interrupt
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
from smfparse.query.scans import Spool

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
    """Statements before they run: the tables they read are created, and read first if necessary."""

    def __init__(self, connection: Connection, relations: Relations) -> None:
        self._connection = connection
        self._relations = relations

    def split(self, script: str) -> list[str]:
        """Return the statements of a script, each without its final semicolon."""
        return [_open(each.query) for each in self._connection.extract_statements(script)]

    @contextmanager
    def prepared(self, statements: Iterable[str]) -> Iterator[list[Any]]:
        """Create the tables that statements read; read the files first if they scan more than once.

        Yields their types; None: a type that duckdb does not name. Raises RequestError unless each
        text is exactly one statement.
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
        """Plan queries once each, and read the files first if they scan more than once.

        Yields the names of the prepared statements (None: the plan does not show the data it
        reads), and the data that was read. If something is created in the connection after that,
        DuckDB plans them again.

        slicing  how the queries can run by slices; None: they cannot
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
        """Create the tables and views that a statement reads; return the data it reads."""
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
        """Create the tables and views that `query` reads; return its data; None: not in the plan.

        Names of views are words in many queries that do not read them, and views take longer to
        create than tables. So a view is created only if the query cannot be bound without it.

        name  name of its kept plan, for `EXECUTE name`; '': not kept
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
    """Return a statement without its semicolon and the rest."""
    return statement.encode()[: _end(statement)].decode()


def _end(text: str) -> int | None:
    """Return the first semicolon after which only semicolons and comments follow, or None."""
    raw, end = text.encode(), None
    for at, kind in reversed(duckdb.tokenize(text)):
        if raw[at:].startswith(b";"):
            end = at
        elif kind is not duckdb.token_type.comment:
            break
    return end
