"""Tables of SMF files, limited to the columns and row filters that DuckDB requests.

Loading the libraries for this module takes about the time of reading a small file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyarrow.dataset import Dataset

from smfparse.decoding.arrow import Batch, coded_schema
from smfparse.metrics.views import words_in
from smfparse.query.projection import scanned
from smfparse.query.scans import SmfScans


class Scan(Dataset):
    """A table of SMF files, with the interface of a pyarrow Dataset for DuckDB."""

    def __init__(self, scans: SmfScans, table: str) -> None:
        self._scans = scans
        self._table = table
        self._whole = coded_schema(table, scans.inputs.names(table))
        self._columns = {scanned(table, each): each for each in self._whole.names}

    @property
    def schema(self) -> Any:
        """The schema of all columns, with their names in DuckDB."""
        return self._schema(list(self._columns))

    def scanner(self, columns: Sequence[str] | None = None, filter: Any = None) -> Scanner:  # noqa: A002 - as in pyarrow
        """Return a scan of `columns` (None: all columns) of the rows for which `filter` is true."""
        chosen = list(self._columns if columns is None else columns)
        return Scanner(self._schema(chosen), self._batches(chosen, filter))

    def _schema(self, chosen: Sequence[str]) -> Any:
        fields = ((each, self._whole.field(self._columns[each])) for each in chosen)
        return pa.schema([field.with_name(each) for each, field in fields])

    def _batches(self, chosen: Sequence[str], condition: Any) -> Iterator[Batch]:
        tested = set() if condition is None else words_in(str(condition)) & self._columns.keys()
        needed = list(dict.fromkeys([*chosen, *tested]))
        names = [self._columns[each] for each in needed]
        with self._scans.failing():
            for batch in self._scans.rows(self._table, frozenset(names)):
                rows = batch.select(names).rename_columns(needed)
                yield rows if condition is None else rows.filter(condition).select(chosen)


class Scanner:
    """One scan of a table."""

    def __init__(self, schema: Any, batches: Iterator[Batch]) -> None:
        self._schema = schema
        self._batches = batches

    def to_reader(self) -> Any:
        """Return the rows as a pyarrow.RecordBatchReader."""
        return pa.RecordBatchReader.from_batches(self._schema, self._batches)
