"""A DuckDB connection that has every table of the inputs.

SMF files are scanned as streams: each scan of a table decodes that table, and only that, in
constant memory. Datasets are read by DuckDB itself. The zone is UTC, whatever the workstation's.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import Any

import duckdb
import pyarrow as pa

from smfparse.columns import table_names, title
from smfparse.decode import Batch, schema, wanted_tables
from smfparse.errors import InputError, RequestError, SmfError
from smfparse.tables import Dataset, Inputs

_QUERIES = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)


class _Scan:
    """A table of SMF files as an Arrow stream that can be read again and again."""

    def __init__(self, inputs: Inputs, table: str) -> None:
        self.inputs = inputs
        self.table = table
        self.failure: SmfError | None = None

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        reader = pa.RecordBatchReader.from_batches(schema(self.table), self._batches())
        return reader.__arrow_c_stream__(requested_schema)

    def _batches(self) -> Iterator[Batch]:
        try:
            for _, batch in self.inputs.batches(wanted_tables([self.table])):
                yield batch
        except SmfError as error:
            self.failure = error
            raise


class Catalog:
    """The tables of `inputs` in DuckDB. Use it in a `with` block, or close it."""

    def __init__(self, inputs: Inputs) -> None:
        self.inputs = inputs
        self.connection = duckdb.connect()
        self.connection.execute("SET TimeZone = 'UTC'")
        self._scans: list[_Scan] = []
        files = [each for each in inputs.sources if not isinstance(each, Dataset)]
        datasets = [each for each in inputs.sources if isinstance(each, Dataset)]
        raw = Inputs(files, inputs.log)
        try:
            for table in table_names():
                self._add(table, raw, datasets)
        except duckdb.Error as error:
            names = ", ".join(each.name for each in datasets)
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

    def _add(self, table: str, raw: Inputs, datasets: list[Dataset]) -> None:
        parts = []
        if raw.sources:
            scan = _Scan(raw, table)
            self._scans.append(scan)
            self.connection.register(f"smf_{table}", scan)
            parts.append(f"SELECT * FROM smf_{table}")
        if datasets:
            files = [quoted(str(file)) for each in datasets for file in each.files(table)]
            parts.append(f"SELECT * FROM read_parquet([{', '.join(files)}], union_by_name = true)")
        self.connection.execute(f"CREATE VIEW {table} AS {' UNION ALL BY NAME '.join(parts)}")
        self.connection.execute(f"COMMENT ON VIEW {table} IS {quoted(title(table))}")

    def execute(self, statement: str) -> None:
        """Run a statement that gives no rows. Raises RequestError."""
        self._run(lambda: self.connection.execute(statement))

    def arrow(self, query: str) -> Any:
        """Return the rows of `query` as a pyarrow.Table. Raises RequestError where it fails."""
        return self._run(lambda: self._relation(query).to_arrow_table())

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


def quoted(text: str) -> str:
    """Return `text` as an SQL string."""
    return "'" + text.replace("'", "''") + "'"
