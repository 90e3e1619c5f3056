"""The tasks of a dataset, to which records of an SMF file may belong that is read with it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from smfparse.decoding import Tasks
from smfparse.inputs.stored import check_rows, parquet_rows
from smfparse.layout import ENCODING, UNIX_EPOCH, US_PER_SECOND, Values
from smfparse.store import meets_span, plain_file
from smfparse.vectors import Ints

if TYPE_CHECKING:
    from smfparse.inputs.sources import Dataset

_TABLE = "wtas"
_COLUMNS = (
    *("source", "system", "qmgr", "smf_time", "record_offset", "interval_start"),
    *("interval_seconds", "task_started_tod", "task_thread"),
)
_DAYS = dt.timedelta(days=2)
"""A task counts at the end of its interval: that is no more days from its SMF time."""


def tasks_between(dataset: Dataset, first: int, last: int, number: int) -> Iterator[Tasks]:
    """Yield the 116/1 records of a dataset that SMF took in a span of time, in microseconds.

    number  that of its first source
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
    """Yield the rows of a span of days, and others of the same files."""
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
