"""A DuckDB connection that has every table of the inputs.

SMF files are scanned as streams: each scan of a table decodes that table, and only that, in
constant memory. Datasets are read by DuckDB itself. The zone is UTC, whatever the workstation's.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Any

import duckdb
import pyarrow as pa

from smfparse.columns import RECORD, table_names, title
from smfparse.decode import Batch, coded_schema, schema, wanted_tables
from smfparse.errors import InputError, RequestError, SmfError
from smfparse.tables import Dataset, Inputs

_PLAIN = {
    *("BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE"),
    *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "DECIMAL", "VARCHAR", "DATE", "TIMESTAMP"),
    "TIMESTAMP WITH TIME ZONE",
}
"""DuckDB types that every form can show."""
_QUERIES = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)


class _Scan:
    """A table of SMF files as an Arrow stream that can be read again and again."""

    def __init__(self, inputs: Inputs, table: str) -> None:
        self.inputs = inputs
        self.table = table
        self.failure: SmfError | None = None

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        reader = pa.RecordBatchReader.from_batches(coded_schema(self.table), self._batches())
        return reader.__arrow_c_stream__(requested_schema)

    def _batches(self) -> Iterator[Batch]:
        try:
            for _, batch in self.inputs.batches(wanted_tables([self.table])):
                yield batch
        except SmfError as error:
            self.failure = error
            raise


class Catalog:
    """The tables of `inputs` in DuckDB. Use it in a `with` block, or close it.

    The schema `inputs` has them with `input_no`: 0 for SMF files, whose `source` tells them apart,
    and a number for each dataset.
    """

    def __init__(self, inputs: Inputs) -> None:
        self.connection = duckdb.connect()
        self.connection.execute("SET TimeZone = 'UTC'")
        self.connection.execute(f"SET temp_directory = {quoted(tempfile.gettempdir())}")
        self._scans: list[_Scan] = []
        files = [each for each in inputs.sources if not isinstance(each, Dataset)]
        self._raw = Inputs(files, inputs.log, inputs.selection, inputs.jobs)
        self._selection = inputs.selection
        self._datasets = [each for each in inputs.sources if isinstance(each, Dataset)]
        self._held: set[str] = set()
        self.connection.execute("CREATE SCHEMA inputs")
        try:
            for table in table_names():
                self._add(table)
        except duckdb.Error as error:
            names = ", ".join(each.name for each in self._datasets)
            raise InputError(f"{names}: the dataset cannot be read: {error}") from error

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

    def _add(self, table: str) -> None:
        parts = []
        if self._raw.sources:
            scan = _Scan(self._raw, table)
            self._scans.append(scan)
            self.connection.register(f"smf_{table}", scan)
            parts.append(f"SELECT 0 AS input_no, * FROM smf_{table}")
        for number, each in enumerate(self._datasets, 1):
            condition = self._selection.condition(table, _scanned(each, RECORD))
            where = f" WHERE {condition}" if condition else ""
            parts.append(f"SELECT {number} AS input_no, * FROM {_scanned(each, table)}{where}")
        rows = " UNION ALL BY NAME ".join(parts)
        self.connection.execute(f"CREATE VIEW inputs.{table} AS {rows}")
        self.connection.execute(
            f"CREATE VIEW {table} AS SELECT * EXCLUDE (input_no) FROM inputs.{table}"
        )
        self.connection.execute(f"COMMENT ON VIEW {table} IS {quoted(title(table))}")

    def hold(self, tables: Iterable[str]) -> None:
        """Read the SMF files once for all of `tables`; each later scan of one is DuckDB's own."""
        wanted = wanted_tables(table for table in tables if table not in self._held)
        if not self._raw.sources or not wanted:
            return
        for table in wanted:
            self.connection.register("held_schema", schema(table).empty_table())
            self.execute(f"CREATE OR REPLACE TABLE held_{table} AS SELECT * FROM held_schema")
        for table, batch in self._raw.batches(wanted):
            self.connection.register("held_batch", pa.Table.from_batches([batch]))
            self.execute(f"INSERT INTO held_{table} SELECT * FROM held_batch")
        for table in wanted:
            self.connection.unregister(f"smf_{table}")
            self.execute(f"CREATE VIEW smf_{table} AS SELECT * FROM held_{table}")
            self._held.add(table)

    def execute(self, statement: str) -> None:
        """Run a statement that gives no rows. Raises RequestError."""
        self._run(lambda: self.connection.execute(statement))

    def arrow(self, query: str) -> Any:
        """Return the rows of `query` as a pyarrow.Table. Raises RequestError where it fails."""
        return self._run(lambda: self._relation(query).to_arrow_table())

    def plain(self, query: str) -> Any:
        """Return the rows of `query` for text: columns have names of their own and plain types.

        Nested, binary and interval columns become text. Raises RequestError where it fails.
        """
        return self._run(lambda: _plain(self._relation(query)).to_arrow_table())

    def _relation(self, query: str) -> Any:
        found = self.connection.extract_statements(query)
        if len(found) != 1 or found[0].type not in _QUERIES:
            raise RequestError("not one query that gives rows: it has to be a SELECT")
        return self.connection.sql(query)

    def _run(self, work: Any) -> Any:
        for scan in self._scans:
            scan.failure = None
        try:
            return work()
        except duckdb.Error as error:
            for scan in self._scans:
                if scan.failure is not None:
                    raise scan.failure from error
            raise RequestError(str(error)) from error


def _scanned(dataset: Dataset, table: str) -> str:
    files = ", ".join(quoted(str(file)) for file in dataset.files(table))
    return f"read_parquet([{files}])"


def _plain(relation: Any) -> Any:
    names = _unique(relation.columns)
    columns = []
    for number, (name, kind) in enumerate(zip(names, relation.types, strict=True), 1):
        value = f"#{number}" if str(kind).split("(")[0] in _PLAIN else f"#{number}::VARCHAR"
        columns.append(f'{value} AS "{name.replace(chr(34), chr(34) * 2)}"')
    return relation.query("result", f"SELECT {', '.join(columns)} FROM result")


def _unique(names: list[str]) -> list[str]:
    """Tell columns of one name apart: a, a_1, a_2; names that are not repeated stay."""
    taken = {name.lower() for name in names}
    seen: set[str] = set()
    found = []
    for name in names:
        unique, number = name, 0
        while unique.lower() in seen or (number and unique.lower() in taken):
            number += 1
            unique = f"{name}_{number}"
        seen.add(unique.lower())
        found.append(unique)
    return found


def quoted(text: str) -> str:
    """Return `text` as an SQL string."""
    return "'" + text.replace("'", "''") + "'"
