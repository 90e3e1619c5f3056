"""Tables of SMF files for scans by DuckDB.

A scan decodes the files as a stream, in constant memory. If a query scans more than once, the files
are read once before the query, and the data for the scans is spooled. For small files, whole tables
are decoded; for other files, only the columns that DuckDB requests: see `narrowing`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from smfparse.decoding.arrow import Batch, Wanted, coded_schema
from smfparse.errors import OutputError, SmfError
from smfparse.inputs.opening import Inputs
from smfparse.inputs.sources import SmfFile
from smfparse.inputs.temporary import TemporaryFolder
from smfparse.query.projection import scanned
from smfparse.reading.reader import size_of


class Spool(Protocol):
    """Tables that were read before their scans.

    wanted  the tables and columns
    """

    wanted: Wanted

    @property
    def bytes(self) -> int:
        """Number of bytes of all tables."""

    def batches(self, table: str) -> Iterator[Batch]:
        """Yield the rows of a table."""

    def remove(self, table: str) -> None:
        """Remove a table that is not read again."""


class InMemory:
    """Tables of small files."""

    def __init__(self, wanted: Wanted, inputs: Inputs) -> None:
        self.wanted = wanted
        self._held: dict[str, list[Batch]] = {table: [] for table in wanted}
        for table, batch in inputs.batches(wanted):
            self._held[table].append(batch)

    @property
    def bytes(self) -> int:
        return sum(batch.nbytes for batches in self._held.values() for batch in batches)

    def batches(self, table: str) -> Iterator[Batch]:
        yield from self._held[table]

    def remove(self, table: str) -> None:
        self._held[table].clear()


class OnDisk:
    """Tables as Arrow streams in a folder."""

    def __init__(self, folder: Path, wanted: Wanted) -> None:
        self.folder = folder
        self.wanted = wanted

    def fill(self, inputs: Inputs) -> None:
        """Read `inputs` once for all tables. Raises OutputError if the disk is full."""
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
        return sum((self.folder / table).stat().st_size for table in self.wanted)

    def batches(self, table: str) -> Iterator[Batch]:
        with pa.OSFile(str(self.folder / table)) as source:  # only one batch at a time is in memory
            yield from pa.ipc.open_stream(source)

    def remove(self, table: str) -> None:
        (self.folder / table).write_bytes(b"")


class SmfScans:
    """The SMF files that a connection scans; their data is spooled for one query at a time.

    failure    the error that ended a scan
    are_whole  whether the files are so small that whole tables are decoded
    """

    def __init__(self, inputs: Inputs) -> None:
        # Decoding the columns of a query takes less time than passing rows between processes.
        files = [each for each in inputs.sources if isinstance(each, SmfFile)]
        is_packed = any(each.input.packing for each in files)
        self.inputs = inputs if is_packed else inputs.by_one_process()
        self.failure: SmfError | KeyboardInterrupt | None = None
        self.are_whole = _are_small(inputs)
        self._spool: Spool | None = None

    @contextmanager
    def read_once(self, wanted: Wanted) -> Iterator[Spool]:
        """Spool the tables and columns of `wanted`: scans of them do not read the files again.

        Raises OutputError if the temporary folder is full.
        """
        with self._filled(wanted) as self._spool:
            try:
                yield self._spool
            finally:
                self._spool = None

    @contextmanager
    def _filled(self, wanted: Wanted) -> Iterator[Spool]:
        if self.are_whole:
            yield InMemory({table: self.inputs.names(table) for table in wanted}, self.inputs)
            return
        with _folder() as folder:
            spool = OnDisk(folder, wanted)
            spool.fill(self.inputs)
            yield spool

    def rows(self, table: str, names: frozenset[str] | None) -> Iterator[Batch]:
        """Yield the columns `names` of a table (None: all), and possibly more."""
        if self._spool is not None and _has(self._spool.wanted, table, names):
            yield from self._spool.batches(table)
            return
        for _, batch in self.inputs.batches({table: names}):
            yield batch

    @contextmanager
    def failing(self) -> Iterator[None]:
        """Store an error that ends a scan in `failure`, because DuckDB passes on only its text."""
        try:
            yield
        except (SmfError, KeyboardInterrupt) as error:
            self.failure = error
            raise


class Whole:
    """A table of SMF files with all its columns, as an Arrow stream for DuckDB."""

    def __init__(self, scans: SmfScans, table: str) -> None:
        self._scans = scans
        self._table = table

    @cached_property
    def _schema(self) -> Any:
        """The columns, with their names in a plan."""
        fields = coded_schema(self._table, self._scans.inputs.names(self._table))
        return pa.schema([(scanned(self._table, each.name), each.type) for each in fields])

    def __arrow_c_schema__(self) -> object:
        return self._schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        reader = pa.RecordBatchReader.from_batches(self._schema, self._batches())
        return reader.__arrow_c_stream__(requested_schema)

    def _batches(self) -> Iterator[Batch]:
        with self._scans.failing():
            for batch in self._scans.rows(self._table, self._scans.inputs.names(self._table)):
                yield pa.RecordBatch.from_arrays(batch.columns, schema=self._schema)


def _are_small(inputs: Inputs) -> bool:
    """Whether all inputs are small, uncompressed SMF files."""
    sources = inputs.sources
    return all(isinstance(each, SmfFile) and not each.input.packing for each in sources) and (
        sum(size_of(each.path) for each in sources) <= inputs.options.limits.whole_bytes
    )


def _has(held: Wanted, table: str, names: frozenset[str] | None) -> bool:
    """Whether `held` contains the columns `names` of a table (None: all columns)."""
    if table not in held:
        return False
    found = held[table]
    return found is None or (names is not None and names <= found)


def _folder() -> TemporaryFolder:
    try:
        return TemporaryFolder()
    except OSError as error:
        raise OutputError(f"{tempfile.gettempdir()}: {error.strerror or error}") from error
