"""The Parquet settings of a table, and a thread that compresses and writes during decoding.

docs/performance.md contains the measurements for these settings.
"""

from __future__ import annotations

import base64
import json
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from smfparse.decoding.arrow import CODED, Batch, coded_schema, plain_schema, signed
from smfparse.decoding.dictionary import columns, meaning, with_fingerprints
from smfparse.decoding.zones import COUNTED_AT
from smfparse.layout.clocks import US_PER_DAY
from smfparse.store.folder import NewFile
from smfparse.store.hive import span_of
from smfparse.vectors import microseconds


class WritingThread:
    """A thread that does work in the order of the calls of `do`.

    most_bytes  maximum bytes of waiting work; `do` waits until the new work fits
    """

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._pool = ThreadPoolExecutor(1, "writing")
        self._waiting: deque[tuple[Future[None], int]] = deque()
        self._bytes = 0

    def do(self, work: Callable[[], None], size: int = 0) -> None:
        """Add work that keeps about `size` bytes in memory. Raises the error of earlier work."""
        while self._waiting and (
            self._waiting[0][0].done() or self._bytes + size > self._most_bytes
        ):
            self._wait_for_first()
        self._waiting.append((self._pool.submit(work), size))
        self._bytes += size

    def wait(self) -> None:
        """Wait until all work is done. Raises the first error."""
        while self._waiting:
            self._wait_for_first()

    def stop(self) -> None:
        """End the thread; work that has not begun is discarded."""
        self._pool.shutdown(cancel_futures=True)

    def _wait_for_first(self) -> None:
        first, size = self._waiting.popleft()
        self._bytes -= size
        first.result()


_FEW_ROWS = 30
_LIGHT = {"compression": "snappy", "compression_level": None}
"""Compression of files with few rows: zstd starts slower, and does not make such files smaller."""
_FIRST_DAY, _LAST_DAY = np.array(["0001-01-01", "9999-12-31"], "datetime64[D]").view(np.int64)
"""First and last date with a year of four digits, as days since 1970."""
_SOUGHT = frozenset({"record_no", "task_record_no", "qmgr", "system"})
"""Columns, besides all times, whose minimum and maximum are in the files."""


class Form(NamedTuple):
    """How the columns of a table are written.

    is_described      whether each file contains the meanings of its columns: about 40 KB
    is_signed         whether numbers have signed types, for engines without unsigned numbers
    has_fingerprints  whether `record` has the columns of fingerprints
    """

    is_described: bool
    is_signed: bool = False
    has_fingerprints: bool = False

    def names(self, table: str) -> frozenset[str] | None:
        """Return the columns of a table; None: all except columns on request."""
        return with_fingerprints(table, asked=self.has_fingerprints)


DESCRIBED = Form(is_described=True)


@dataclass
class TableWriter:
    """Writes one table as Parquet, one row group after another.

    create      function that opens the new file; called when the first rows are written
    group_rows  number of rows of a full row group
    wanted      columns of the table; None: all
    form        how the columns are written
    thread      thread that writes; None: the caller writes
    rows        number of added rows
    days        first and last day of the rows, by `counted_at`; []: no row has a time
    held        batches that are not yet written
    held_bytes  bytes of these batches
    """

    table: str
    create: Callable[[], NewFile]
    group_rows: int
    wanted: frozenset[str] | None = None
    form: Form = DESCRIBED
    thread: WritingThread | None = None
    rows: int = 0
    days: list[str] = field(default_factory=list)
    held: list[Batch] = field(default_factory=list)
    held_bytes: int = 0
    _held_rows: int = 0
    _is_open: bool = False
    _writer: Any = None
    _file: NewFile | None = None

    @property
    def sha256(self) -> str:
        """The SHA-256 of the closed file."""
        assert self._file is not None
        return self._file.sha256

    @property
    def is_open(self) -> bool:
        """Whether the file is open, or will be after the queued writes."""
        return self._is_open

    def add(self, batch: Batch, size: int) -> None:
        """Add a batch of about `size` bytes; write the rows when a row group is full."""
        self.held.append(batch)
        self.rows += batch.num_rows
        self.held_bytes += size
        self._held_rows += batch.num_rows
        if self._held_rows >= self.group_rows:
            self.flush()

    def close(self) -> None:
        """Write the remaining rows; a table without rows becomes a file without rows."""
        if self.held or not self.is_open:
            self.flush()
        self._do(self._end)
        if self.thread is not None:
            self.thread.wait()
        self._is_open = False

    def give_up(self) -> None:
        """Close the incomplete file; the Parquet writer writes nothing, even when it is freed."""
        if self._writer is not None:
            self._writer.is_open = False
        if self._file is not None:
            self._file.give_up()

    def flush(self) -> None:
        """Write the buffered rows as row groups."""
        self._do(partial(self._write, self.held, self.rows), self.held_bytes)
        self._is_open = True
        self.held, self.held_bytes, self._held_rows = [], 0, 0

    def _do(self, work: Callable[[], None], size: int = 0) -> None:
        if self.thread is None:
            work()
        else:
            self.thread.do(work, size)

    def _write(self, batches: Sequence[Batch], so_far: int) -> None:
        """Write batches; the table then has `so_far` rows."""
        if self._writer is None:
            self._file = self.create()
            options = parquet_options(self.table, self.wanted)
            if so_far <= _FEW_ROWS:
                options = options | _LIGHT
            self._writer = pq.ParquetWriter(self._file, self._schema, **options)
            if self.form.is_described:
                self._writer.add_key_value_metadata(_metadata(self.table, self.wanted))
        rows = joined(self.table, batches, self.wanted)
        if COUNTED_AT in rows.column_names:
            self.days = span_of([*self.days, *_days(rows.column(COUNTED_AT))])
        if self.form.is_signed:  # the cast module of pyarrow loads slowly
            rows = rows.cast(self._schema)
        self._writer.write_table(rows, row_group_size=self.group_rows)

    @property
    def _schema(self) -> Any:
        found = coded_schema(self.table, self.wanted)
        return signed(found) if self.form.is_signed else found

    def _end(self) -> None:
        self._writer.close()
        assert self._file is not None
        self._file.close()


def _days(times: Any) -> list[str]:
    there = (numbers[known] for numbers, known in map(microseconds, times.chunks))
    ends = [end for each in there if len(each) for end in (each.min(), each.max())]
    days = np.array(ends, np.int64) // US_PER_DAY
    return [str(each) for each in days.clip(_FIRST_DAY, _LAST_DAY).astype("datetime64[D]")]


def joined(table: str, batches: Sequence[Batch], wanted: frozenset[str] | None = None) -> Any:
    """Return batches as one pyarrow.Table, with one dictionary per column, without repeated texts.

    ParquetWriter writes a column of texts without a dictionary if a text is in its dictionary
    twice. A batch without rows is added because pyarrow does not unify the dictionary of a single
    batch.
    """
    none = [each.slice(0, 0) for each in batches[:1]]
    whole = coded_schema(table, wanted)
    return pa.Table.from_batches([*batches, *none], whole).unify_dictionaries()


@cache
def parquet_options(table: str, wanted: frozenset[str] | None = None) -> dict[str, Any]:
    """Return the options of pyarrow's ParquetWriter for a table.

    Texts have a dictionary; other columns are plain. Only columns by which readers filter have a
    minimum and maximum: times, systems, queue managers, record numbers. DELTA_BINARY_PACKED is not
    used, because fastparquet reads steps of more than 24 bits wrongly, such as between the times of
    two intervals.
    """
    fields = coded_schema(table, wanted)
    return {
        "compression": "zstd",
        "compression_level": 2,
        "use_dictionary": [each.name for each in fields if each.type in (CODED, pa.string())],
        "write_statistics": [
            each.name for each in fields if each.name in _SOUGHT or pa.types.is_timestamp(each.type)
        ],
        "store_schema": False,
        "write_page_checksum": True,
    }


@cache
def _metadata(table: str, wanted: frozenset[str] | None) -> dict[bytes, bytes]:
    """Return the metadata of a file about its columns.

    ARROW:schema  schema for Arrow readers: plain texts, meanings and units
    columns       for other readers: JSON with the meaning and unit of each column
    """
    plain = plain_schema(table, wanted)
    meanings = {each.name: meaning(each) for each in columns(table, wanted)}
    return {
        b"ARROW:schema": base64.b64encode(plain.serialize()),
        b"columns": json.dumps(meanings).encode(),
    }
