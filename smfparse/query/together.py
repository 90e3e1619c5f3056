"""Many queries whose rows are few: to plan them takes longer than to run them over small files.

There, all tables that they name are read first, and no plan is looked at: each is planned as it
runs, where a relation of DuckDB is bound before that. Else their plans are kept until they run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import duckdb

from smfparse.query.bounded import settings
from smfparse.query.connecting import Connection
from smfparse.query.projection import named_tables, named_views, read_by
from smfparse.query.relations import Relations
from smfparse.query.results import executed_table
from smfparse.query.statements import Statements


def run_together(
    connection: Connection,
    relations: Relations,
    queries: Sequence[str],
    others: Sequence[str],
    shared: Sequence[str] = (),
) -> Iterator[Any]:
    """Yield the rows of each of `queries`, then of `others`, as a pyarrow.Table.

    One of `queries` whose tables have no rows is not run: None is yielded for it. Meanwhile DuckDB
    has one thread: to share so little costs more than the work.

    shared  calls of macros that several queries make: their rows are made once
    """
    every = [*queries, *others]
    held = dict.fromkeys(read_by("\n".join(every)))
    with settings(connection, threads=1), relations.scans.read_once(held) as spool:
        kept = {each: f"shared_{number}" for number, each in enumerate(shared)}
        for call, name in kept.items():
            relations.make(named_tables(call))
            connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS FROM {call}")
        for number, query in enumerate(every):
            read = chain.from_iterable(map(spool.batches, read_by(query)))
            if number < len(queries) and not any(batch.num_rows for batch in read):
                yield None
            else:
                for call, name in kept.items():
                    query = query.replace(call, name)
                yield executed_table(_run(connection, relations, query))


def run_planned(
    connection: Connection, statements: Statements, queries: Sequence[str]
) -> Iterator[Any]:
    """Yield the rows of each query as a pyarrow.Table.

    What is made in the connection meanwhile has DuckDB plan the queries that follow once more.
    """
    with statements.planned(queries) as (runs, _):
        for run, query in zip(runs, queries, strict=True):
            yield executed_table(connection.execute(run or query))


def _run(connection: Connection, relations: Relations, query: str) -> Connection:
    """Run a query; return the connection, which has its rows.

    What it names is made before; views only where it cannot be bound without them.
    """
    relations.make(named_tables(query))
    try:
        return connection.execute(query)
    except (duckdb.CatalogException, duckdb.BinderException):
        relations.make((), named_views(query))
        return connection.execute(query)
