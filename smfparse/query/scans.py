"""Tables of SMF files as DuckDB scans them: only the columns that it asks for are decoded.

A scan decodes the files as a stream, in constant memory. Where one query scans more than once, the
files are read once before it, and what the scans need is spooled.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow.dataset import Dataset

from smfparse.errors import OutputError, SmfError
from smfparse.inputs import Inputs, TemporaryFolder
from smfparse.query.projection import scanned
from smfparse.tables import Batch, Wanted, coded_schema, columns, words_in


class Spool:
    """Tables on disk, as Arrow streams."""

    def __init__(self, folder: Path, wanted: Wanted) -> None:
        self.folder = folder
        self.wanted = wanted

    def fill(self, inputs: Inputs) -> None:
        """Read `inputs` once for all tables. Raises OutputError where there is no room."""
        try:
            with ExitStack() as stack:
                writers = {table: self._writer(table, stack) for table in self.wanted}
                for table, batch in inputs.batches(self.wanted):
                    writers[table].write_batch(batch)
        except OSError as error:
            raise OutputError(f"{self.folder}: {error.strerror or error}") from error

    def _writer(self, table: str, stack: ExitStack) -> Any:
        sink = stack.enter_context(pa.OSFile(str(self.folder / table), "wb"))
        schema = coded_schema(table, self.wanted[table])
        return stack.enter_context(pa.ipc.new_stream(sink, schema))

    @property
    def bytes(self) -> int:
        """How much it is."""
        return sum((self.folder / table).stat().st_size for table in self.wanted)

    def remove(self, table: str) -> None:
        """Remove a table that is not read again."""
        (self.folder / table).unlink()

    def has(self, table: str, names: frozenset[str]) -> bool:
        """Whether these columns of a table are here."""
        if table not in self.wanted:
            return False
        held = self.wanted[table]
        return held is None or names <= held

    def batches(self, table: str) -> Iterator[Batch]:
        """Yield the rows of a table."""
        with pa.OSFile(str(self.folder / table)) as source:  # memory holds a batch of it
            yield from pa.ipc.open_stream(source)


class SmfScans:
    """The SMF files of a connection, as its scans read them; for one query at a time, spooled.

    failure  what ended the reading of a scan
    """

    def __init__(self, inputs: Inputs) -> None:
        self.inputs = inputs
        self.failure: SmfError | KeyboardInterrupt | None = None
        self._spool: Spool | None = None

    @contextmanager
    def read_once(self, wanted: Wanted) -> Iterator[Spool]:
        """Spool the tables and columns of `wanted`: scans of them do not read the files again.

        Raises OutputError where the temporary folder has no room for them.
        """
        with self._folder() as folder:
            spool = Spool(folder, wanted)
            spool.fill(self.inputs)
            self._spool = spool
            try:
                yield spool
            finally:
                self._spool = None

    def _folder(self) -> TemporaryFolder:
        try:
            return TemporaryFolder()
        except OSError as error:
            raise OutputError(f"{tempfile.gettempdir()}: {error.strerror or error}") from error

    def rows(self, table: str, names: frozenset[str]) -> Iterator[Batch]:
        """Yield the columns `names` of a table, and maybe more."""
        if self._spool is not None and self._spool.has(table, names):
            yield from self._spool.batches(table)
            return
        for _, batch in self.inputs.batches({table: names}):
            yield batch


class Scan(Dataset):
    """A table of SMF files, for DuckDB what a pyarrow Dataset is."""

    def __init__(self, scans: SmfScans, table: str) -> None:
        self._scans = scans
        self._table = table
        self._columns = {scanned(table, each.name): each.name for each in columns(table)}

    @property
    def schema(self) -> Any:
        """The schema of all columns, as they are called in a plan."""
        return self._schema(list(self._columns))

    def scanner(self, columns: Sequence[str] | None = None, filter: Any = None) -> Scanner:  # noqa: A002 - as in pyarrow
        """Return a reading of `columns` (None: all) of the rows for which `filter` is true."""
        chosen = list(self._columns if columns is None else columns)
        return Scanner(self._schema(chosen), self._batches(chosen, filter))

    def _schema(self, chosen: Sequence[str]) -> Any:
        whole = coded_schema(self._table)
        return pa.schema([whole.field(self._columns[each]).with_name(each) for each in chosen])

    def _batches(self, chosen: Sequence[str], condition: Any) -> Iterator[Batch]:
        try:
            yield from self._rows(chosen, condition)
        except (SmfError, KeyboardInterrupt) as error:
            self._scans.failure = error
            raise

    def _rows(self, chosen: Sequence[str], condition: Any) -> Iterator[Batch]:
        tested = set() if condition is None else words_in(str(condition)) & self._columns.keys()
        needed = list(dict.fromkeys([*chosen, *tested]))
        names = [self._columns[each] for each in needed]
        for batch in self._scans.rows(self._table, frozenset(names)):
            rows = batch.select(names).rename_columns(needed)
            yield rows if condition is None else rows.filter(condition).select(chosen)


class Scanner:
    """One reading of a table."""

    def __init__(self, schema: Any, batches: Iterator[Batch]) -> None:
        self._schema = schema
        self._batches = batches

    def to_reader(self) -> Any:
        """Return the rows as a pyarrow.RecordBatchReader."""
        return pa.RecordBatchReader.from_batches(self._schema, self._batches)
