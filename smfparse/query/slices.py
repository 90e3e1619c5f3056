"""A query that is run for one slice of the rows after the other: memory holds one of them.

A slice has whole sections, which are rows that a query puts together, in the order of their time.
So the rows of all slices, one behind the other, are those of the query over everything.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from smfparse.inputs import TemporaryFolder
from smfparse.query.connecting import Connection
from smfparse.query.projection import Slicing
from smfparse.query.relations import Relations
from smfparse.query.scans import Spool
from smfparse.tables import columns, quoted

_NUMBER = "slice"
"""The variable that says which slice the tables show, and the column that says it of a row."""
_SECTIONS = "slices"
"""The table of sections and the slice that each is in."""
_GROUP_ROWS = 8192
"""Rows that are passed over together where none of them is of a slice."""


class Slices:
    """The slices of what a spool has, on disk; in turn, the tables of a connection show each."""

    def __init__(self, connection: Connection, relations: Relations, slicing: Slicing) -> None:
        self._connection = connection
        self._relations = relations
        self._slicing = slicing

    @contextmanager
    def made_of(self, spool: Spool, count: int) -> Iterator[Iterator[None]]:
        """Make up to `count` slices; yield what shows one after the other."""
        for name, query in self._slicing.common.items():
            self._connection.execute(f"CREATE OR REPLACE TABLE {name} AS {query}")
        self._connection.execute(
            f"CREATE OR REPLACE TABLE {_SECTIONS} AS SELECT section, "
            f"(rank() OVER (ORDER BY time) - 1) * {count} // count(*) OVER () AS {_NUMBER} "
            f"FROM ({self._slicing.sections})"
        )
        moved = [each for each in spool.wanted if each in self._slicing.of_row]
        with TemporaryFolder() as folder:
            try:
                for table in moved:
                    path = folder / f"{table}.parquet"
                    self._relations.show(table, self._written(table, spool.wanted[table], path))
                    spool.remove(table)
                yield self._each(count)
            finally:
                for table in moved:
                    self._relations.show_all(table)
                for name in (_SECTIONS, *self._slicing.common):
                    self._connection.execute(f"DROP TABLE IF EXISTS {name}")

    def _each(self, count: int) -> Iterator[None]:
        for number in range(count):
            self._connection.execute(f"SET VARIABLE {_NUMBER} = {number}")
            yield

    def _written(self, table: str, held: frozenset[str] | None, path: Path) -> str:
        """Write columns of a table with the slices of rows; return the query for those of one."""
        names = [each.name for each in columns(table) if held is None or each.name in held]
        shown = ", ".join(f'"{each}"' for each in ("input_no", *names))
        self._connection.execute(
            f"COPY (SELECT {_NUMBER}, {shown} FROM ("
            f"SELECT *, {self._slicing.of_row[table]} AS section FROM inputs.{table}"
            f") JOIN {_SECTIONS} USING (section)) TO {quoted(str(path))} "
            f"(FORMAT parquet, COMPRESSION lz4, ROW_GROUP_SIZE {_GROUP_ROWS})"
        )
        return (
            f"SELECT {shown} FROM read_parquet({quoted(str(path))}) "
            f"WHERE {_NUMBER} = getvariable('{_NUMBER}')"
        )
