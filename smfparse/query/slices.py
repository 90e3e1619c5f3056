"""A query that is run for one slice of the rows after the other: memory holds one of them.

A slice has whole sections, which are rows that a query puts together, in the order of their time.
So the rows of all slices, one behind the other, are those of the query over everything.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from smfparse.inputs import TemporaryFolder
from smfparse.query.bounded import bounded_execute, settings
from smfparse.query.connecting import Connection
from smfparse.query.projection import Slicing
from smfparse.query.relations import Relations
from smfparse.query.scans import Spool
from smfparse.tables import columns, quoted

_NUMBER = "slice"
"""The variable that says which slice the tables show, and the column that says it of a row."""
_SECTIONS = "slices"
"""The table of sections and the slice that each is in."""
_ORDERING_JOINS = "join_order,build_side_probe_side"
"""What DuckDB chooses the table by that a join holds: it would take the one whose size it does not
know, while sections are smaller than any."""
_GROUP_ROWS = 2048
"""Rows that are passed over together where none of them is of a slice."""


class Slices:
    """The slices of what a spool has, on disk; in turn, the tables of a connection show each."""

    def __init__(self, connection: Connection, relations: Relations, slicing: Slicing) -> None:
        self._connection = connection
        self._relations = relations
        self._slicing = slicing

    @contextmanager
    def made_of(self, spool: Spool, count: int) -> Iterator[Iterator[None]]:
        """Make `count` slices, or more of many sections; yield what shows one after the other."""
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
                with settings(self._connection, disabled_optimizers=_ORDERING_JOINS):
                    for table in moved:
                        path = folder / f"{table}.parquet"
                        rows = self._written(table, spool.wanted[table], path)
                        self._relations.show(table, rows)
                        spool.remove(table)
                yield self._each()
            finally:
                for table in moved:
                    self._relations.show_all(table)
                for name in (_SECTIONS, *self._slicing.common):
                    self._connection.execute(f"DROP TABLE IF EXISTS {name}")

    def _execute(self, statement: str) -> None:
        bounded_execute(self._connection, statement)

    def _each(self) -> Iterator[None]:
        query = f"SELECT DISTINCT {_NUMBER} FROM {_SECTIONS} ORDER BY ALL"
        for (number,) in self._connection.execute(query).fetchall():
            self._connection.execute(f"SET VARIABLE {_NUMBER} = {number}")
            yield

    def _written(self, table: str, held: frozenset[str] | None, path: Path) -> str:
        """Write columns of a table with the slices of rows; return the query for those of one."""
        names = [each.name for each in columns(table) if held is None or each.name in held]
        shown = ", ".join(f'"{each}"' for each in ("input_no", *names))
        self._execute(
            f"COPY (SELECT {_NUMBER}, {shown} FROM ("
            f"SELECT *, {self._slicing.of_row[table]} AS section FROM inputs.{table}"
            f") JOIN {_SECTIONS} USING (section)) TO {quoted(str(path))} "
            f"(FORMAT parquet, COMPRESSION lz4, ROW_GROUP_SIZE {_GROUP_ROWS})"
        )
        return (
            f"SELECT {shown} FROM read_parquet({quoted(str(path))}) "
            f"WHERE {_NUMBER} = getvariable('{_NUMBER}')"
        )
