"""Rows and fingerprints in a dataset, from the files that can contain requested records.

Each file is first checked: it must be complete, unchanged, and not a link. Only the fingerprints of
the required days are read.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from smfparse.decoding.arrow import Batch, coded_schema, plain_schema, schema, signed, whole_schema
from smfparse.decoding.criteria import like
from smfparse.decoding.duplicates import FINGERPRINT, Fingerprints, Known, read_run
from smfparse.decoding.selection import Selection
from smfparse.decoding.tasks import Tasks
from smfparse.decoding.zones import COUNTED_AT
from smfparse.errors import InputError, SmfError
from smfparse.layout.clocks import UNIX_EPOCH, US_PER_SECOND
from smfparse.layout.kinds import ENCODING, Values
from smfparse.reading.places import Place, Url, size_at
from smfparse.store.hive import day_name, meets_span, qmgr_name
from smfparse.store.manifest import EXACT, Manifest, NamedRun, read_files, read_runs, wanted_in
from smfparse.store.targets import checksum, plain_file
from smfparse.vectors import Ints

if TYPE_CHECKING:
    from smfparse.inputs.sources import Dataset


def manifest_for(folder: Place, selection: Selection) -> Manifest:
    """Return the manifest of a dataset, limited to the files that can contain selected rows.

    The entry `is_whole` is true if these are all files. If jobs, transactions, queues or channels
    are selected, files are not chosen by day, because these names are searched in all records of a
    task, of any day.

    Raises InputError if the manifest is missing or damaged.
    """
    span = _span(selection)
    qmgrs = like(selection.qmgrs) if selection.qmgrs else None
    found = read_files(folder, span)
    files = {
        table: [each for each in some if _can_have(each, qmgrs)]
        for table, some in found["files"].items()
    }
    return found | {"files": files, "is_whole": span is None and qmgrs is None}


def _span(selection: Selection) -> tuple[str, str] | None:
    """Return the first and last selected day; None: any day."""
    if selection.time_column != COUNTED_AT or selection.by_name:
        return None
    start, end = selection.start or dt.datetime.min, selection.end or dt.datetime.max
    return start.date().isoformat(), end.date().isoformat()


def _can_have(name: str, qmgrs: re.Pattern[str] | None) -> bool:
    """Whether a file can contain rows of queue managers that match `qmgrs`; None: all match."""
    qmgr = qmgr_name(name)
    return qmgrs is None or qmgr is None or qmgrs.fullmatch(qmgr) is not None


@dataclass(frozen=True)
class KnownRecords:
    """The fingerprints of the records of a dataset."""

    folder: Place

    def of_days(self, days: frozenset[int]) -> list[Fingerprints]:
        """Return runs of fingerprints that include all records of these dates.

        Raises InputError if a file was changed since it was written.
        """
        names = frozenset(map(day_name, days))
        return [run for each in read_runs(self.folder) for run in self._of_days(each, names)]

    def _of_days(self, named: NamedRun, days: Container[str]) -> Iterator[Fingerprints]:
        if named.days is None:
            yield self._whole(named)
        elif any(day in days for day in named.days):
            yield from _days_of(self._whole(named), named.days, days)

    def _whole(self, named: NamedRun) -> Fingerprints:
        """Return the fingerprints of a file after a check that the file is unchanged."""
        path = plain_file(self.folder, named.name)
        if size_at(path) != named.records * FINGERPRINT.itemsize:
            raise InputError(
                f"{path}: a file of the dataset is incomplete, so duplicate records cannot be "
                "detected; convert again"
            )
        check_bytes(path, named.sha256)
        return read_run(path)


@dataclass(frozen=True)
class KnownOfSeveral:
    """The fingerprints of the records of several datasets."""

    datasets: Sequence[Known]

    def of_days(self, days: frozenset[int]) -> list[Fingerprints]:
        """Return the fingerprints of all datasets, as from `KnownRecords.of_days`."""
        return [run for each in self.datasets for run in each.of_days(days)]


def _days_of(
    run: Fingerprints, own: Mapping[str, int], days: Container[str]
) -> Iterator[Fingerprints]:
    """Yield the fingerprints of `days`. The fingerprints of a file are sorted by day and value."""
    start = 0
    for day, count in own.items():
        if day in days:
            yield run[start : start + count]
        start += count


def there(folder: Place, manifest: Manifest, table: str) -> list[Place]:
    """Return the Parquet files of a table. Raises InputError if a file is missing, or is a link."""
    return [plain_file(folder, each) for each in manifest["files"][table]]


def check_rows(folder: Place, manifest: Manifest, table: str) -> None:
    """Raise InputError if the Parquet files of a table were changed since they were written.

    All bytes are read for the checksum, and columns and numbers of rows are compared. For files in
    object storage, only columns and numbers of rows are compared, to avoid a transfer of the files.
    """
    rows = 0
    for name in manifest["files"][table]:
        file, (expected, *_) = plain_file(folder, name), manifest["rows"][name]
        if isinstance(file, Path):
            check_bytes(file, manifest["checksums"][name])
        with _named(file):
            wanted = wanted_in(manifest, table)
            found = _opened(file, table, wanted, manifest["types"]).metadata.num_rows
        if found != expected:
            raise InputError(f"{file}: {found:,} rows, not {expected:,}; convert again")
        rows += found
    if manifest["is_whole"] and rows != manifest["tables"][table]:
        raise InputError(
            f"{folder}: the files of the table {table} have {rows:,} rows, but "
            f"{manifest['tables'][table]:,} were written; convert again"
        )


def file_rows(folder: Place, manifest: Manifest, table: str, name: str) -> Iterator[Batch]:
    """Yield the rows of one file of a table, with all columns; raise InputError as `check_rows`."""
    check_rows(folder, manifest | {"files": {table: [name]}, "is_whole": False}, table)
    wanted = wanted_in(manifest, table)
    whole = coded_schema(table, wanted)
    for batch in parquet_rows(
        plain_file(folder, name), table, whole.names, wanted, manifest["types"]
    ):
        yield batch.cast(whole)


def check_bytes(file: Place, expected: str) -> None:
    """Raise InputError if the checksum of a file has changed since it was written."""
    if checksum(file) != expected:
        raise InputError(
            f"{file}: changed since it was written: damaged or replaced; convert again"
        )


def parquet_rows(
    file: Place, table: str, names: list[str], wanted: frozenset[str] | None, types: str
) -> Iterator[Batch]:
    """Yield the columns `names` of a file of a table; missing fingerprints are NULL.

    wanted  the columns of the file; None: all except columns on request
    types   types of the numbers in the file
    """
    with _named(file):
        opened = _opened(file, table, wanted, types)
        read = [each for each in names if wanted is not None or each in schema(table).names]
        for found in opened.iter_batches(columns=read):
            batch = found if types == EXACT else _exact(found, table)
            yield batch if read == names else _completed(batch, table, names)


def _exact(batch: Batch, table: str) -> Batch:
    whole = whole_schema(table)
    return batch.cast(pa.schema([whole.field(each) for each in batch.schema.names]))


def _opened(file: Place, table: str, wanted: frozenset[str] | None, types: str) -> Any:
    """Return a ParquetFile after a check that it has the wanted columns, each with its type."""
    from pyarrow.parquet import ParquetFile  # slow to load, and only for datasets

    source: Any = file.open() if isinstance(file, Url) else file
    opened = ParquetFile(source, page_checksum_verification=True)
    whole = plain_schema(table, wanted)
    expected = [(each.name, each.type) for each in (whole if types == EXACT else signed(whole))]
    if [(each.name, each.type) for each in opened.schema_arrow] != expected:
        raise InputError(f"{file}: not a file of the table {table}; convert again")
    return opened


@contextmanager
def _named(file: Place) -> Iterator[None]:
    """Raise InputError with the name of the file for any error of Arrow about a damaged file."""
    try:
        yield
    except SmfError:
        raise
    except Exception as error:
        raise InputError(f"{file}: cannot be read as Parquet: {error}; convert again") from error


def _completed(batch: Batch, table: str, names: list[str]) -> Batch:
    found = [
        batch.column(each.name)
        if each.name in batch.schema.names
        else pa.nulls(batch.num_rows, each.type)
        for each in map(whole_schema(table).field, names)
    ]
    return pa.RecordBatch.from_arrays(found, names)


_TABLE = "wtas"
_COLUMNS = (
    *("source", "system", "qmgr", "smf_time", "record_offset", "interval_start"),
    *("interval_seconds", "task_started_tod", "task_thread"),
)
_DAYS = dt.timedelta(days=2)
"""Maximum days between the SMF time of a task and the time at which the task counts."""


def tasks_between(dataset: Dataset, first: int, last: int, number: int) -> Iterator[Tasks]:
    """Yield the 116/1 records of a dataset whose SMF time is from `first` to `last`.

    first, last  microseconds since 1970
    number       number of the first source of the dataset
    """
    sources = {name: number + each for each, name in enumerate(dataset.smf_files)}
    moments = [UNIX_EPOCH + dt.timedelta(microseconds=each) for each in (first, last)]
    days = [
        (each + by).date().isoformat() for each, by in zip(moments, (-_DAYS, _DAYS), strict=True)
    ]
    for batch in _rows_of_days(dataset, (days[0], days[1])):
        time = _numbers(batch, "smf_time")
        named = [each in sources for each in batch.column("source").to_pylist()]
        near = (time >= first) & (time <= last) & np.array(named, np.bool_)
        if near.any():
            yield _tasks(batch.filter(pa.array(near)), sources)


def _rows_of_days(dataset: Dataset, days: tuple[str, str]) -> Iterator[Any]:
    """Yield the rows from the first to the last day, and the other rows of the same files."""
    found, folder = dataset.manifest, dataset.path
    for name in found["files"][_TABLE]:
        _, *own = found["rows"][name]
        if meets_span(own, days):
            check_rows(folder, found | {"files": {_TABLE: [name]}, "is_whole": False}, _TABLE)
            file = plain_file(folder, name)
            yield from parquet_rows(file, _TABLE, [*_COLUMNS], None, found["types"])


def _tasks(batch: Any, sources: dict[str, int]) -> Tasks:
    begin, seconds = _numbers(batch, "interval_start"), batch.column("interval_seconds")
    length = np.rint(seconds.fill_null(0).to_numpy() * US_PER_SECOND).astype(np.int64)
    known = [
        batch.column(each).is_valid().to_numpy(zero_copy_only=False).astype(np.int64)
        for each in ("interval_start", "interval_seconds")
    ]
    source = np.array([sources[each] for each in batch.column("source").to_pylist()], np.int64)
    offset, time = _numbers(batch, "record_offset"), _numbers(batch, "smf_time")
    numbers = [offset, np.zeros_like(offset), begin, begin + length, *known, time, source]
    return Tasks(_keys(batch), np.stack(numbers, axis=1))


def _keys(batch: Any) -> Values:
    names = [
        "".join(f"{each or '':4}" for each in row).encode(ENCODING, "replace")
        for row in zip(
            *(batch.column(each).to_pylist() for each in ("system", "qmgr")), strict=True
        )
    ]
    words = [
        batch.column(each).fill_null(0).to_numpy().astype(">u8")
        for each in ("task_started_tod", "task_thread")
    ]
    parts = [np.array(names, "V8"), *words]
    raw = np.hstack([np.ascontiguousarray(each).view(np.uint8).reshape(-1, 8) for each in parts])
    return np.ascontiguousarray(raw).view("V24")[:, 0]


def _numbers(batch: Any, name: str) -> Ints:
    found: Ints = batch.column(name).cast(pa.int64()).fill_null(0).to_numpy()
    return found
