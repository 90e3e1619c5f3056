"""Combine the short files in each folder of a dataset, and sort their rows.

The values of rows, the fingerprints, the inputs and the totals do not change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import PurePosixPath
from typing import Any

from smfparse.decoding.arrow import Batch
from smfparse.decoding.zones import COUNTED_AT
from smfparse.errors import RequestError
from smfparse.inputs.stored import file_rows
from smfparse.limits import Limits
from smfparse.reading.places import Place
from smfparse.store.folder import AnyFolder
from smfparse.store.manifest import (
    Manifest,
    NamedFile,
    has_fingerprints,
    has_manifest,
    read_files,
    wanted_in,
)
from smfparse.store.parquet import TableWriter, joined
from smfparse.store.targets import PARTIAL
from smfparse.store.writer import News, Writer
from smfparse.writing.dataset import alone_in, file_name, form_of, named, refuse_url


@dataclass(frozen=True)
class Compacted:
    """The outcome of compacting a dataset.

    before  number of files that were combined
    after   number of files that replaced these files
    rows    number of rows in these files
    """

    before: int = 0
    after: int = 0
    rows: int = 0


@dataclass
class _Group:
    """The files of a table in one folder.

    counts  {file: number of rows}
    """

    table: str
    folder: str
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether no file has rows."""
        return all(rows == 0 for rows in self.counts.values())

    def short(self, most: int) -> list[str]:
        """Return the files with fewer than `most` rows; []: only one such file, or none."""
        found = [name for name, rows in self.counts.items() if rows < most]
        return found if found[1:] else []


def compact_dataset(folder: Place, limits: Limits) -> Compacted:
    """Combine the short files of each folder of a dataset.

    A file is short if it has fewer rows than `limits.file_rows`. Rows are sorted by day, queue
    manager and time within a row group. If the process is killed, the dataset is unchanged, or the
    next process that writes to the dataset completes the change. If another process is writing to
    the dataset, wait for its end.

    Raises RequestError if `folder` contains no dataset, InputError if a file of the dataset was
    changed, and OutputError if the dataset cannot be written, or the wait was too long.
    """
    refuse_url(folder)
    if not has_manifest(folder):
        raise RequestError(f"{folder}: not a dataset; give the folder that convert wrote")
    with alone_in(folder, {PARTIAL}.__contains__, limits, waits=True) as writer:
        whole = read_files(folder)
        writer.clear()
        groups = _groups(whole, limits.file_rows)
        if not groups:
            return Compacted()
        return _compact(writer, whole, groups, limits)


def _groups(whole: Manifest, most: int) -> list[tuple[_Group, list[str]]]:
    found = list[tuple[_Group, list[str]]]()
    for table, names in whole["files"].items():
        by_folder: dict[str, _Group] = {}
        for name in names:
            place = PurePosixPath(name).parent.relative_to(table).as_posix()
            group = by_folder.setdefault(place, _Group(table, "" if place == "." else place))
            group.counts[name] = whole["rows"][name][0]
        has_rows = not all(each.is_empty for each in by_folder.values())
        for group in by_folder.values():
            is_redundant = group.is_empty and has_rows  # another folder has a file for the table
            files = [*group.counts] if is_redundant else group.short(most)
            found += [(group, files)] if files else []
    return found


def _compact(
    writer: Writer, whole: Manifest, groups: list[tuple[_Group, list[str]]], limits: Limits
) -> Compacted:
    head = writer.head()
    writing = _Writing(writer.folder, whole, limits)
    for group, files in groups:
        writing.write(group, files)
    gone = frozenset(name for _, files in groups for name in files)
    head["next"] += 1
    writer.publish(News(head, files=writing.written, gone=gone))
    rows = sum(each.rows for each in writing.written)
    return Compacted(len(gone), len(writing.written), rows)


@dataclass
class _Writing:
    """Writes the rows of files to fewer files, and lists the new files in `written`."""

    place: AnyFolder
    whole: Manifest
    limits: Limits
    written: list[NamedFile] = field(default_factory=list)
    _numbers: Counter[tuple[str, str]] = field(default_factory=Counter)

    def write(self, group: _Group, files: list[str]) -> None:
        """Write the rows of some files of a group to new files of up to `limits.file_rows` rows."""
        writer: TableWriter | None = None
        name = ""
        for rows in self._runs(group.table, files):
            if writer is None:
                name, writer = self._next(group)
            for batch in rows.to_batches():
                writer.add(batch, batch.nbytes)
            if writer.held:
                writer.flush()
            if writer.rows >= self.limits.file_rows:
                self._close(name, writer)
                writer = None
        if not self.whole["tables"][group.table]:
            name, writer = self._next(group)  # every table needs a file
        if writer is not None:
            self._close(name, writer)

    def _runs(self, table: str, files: list[str]) -> Iterator[Any]:
        held, room = list[Batch](), self.limits.group_rows
        wanted = wanted_in(self.whole, table)
        for name in files:
            for found in file_rows(self.place.path, self.whole, table, name):
                batch = found
                while batch.num_rows >= room:
                    held.append(batch.slice(0, room))
                    batch, room = batch.slice(room), self.limits.group_rows
                    yield _sorted(table, held, wanted)
                held.append(batch)
                room -= batch.num_rows
        if room < self.limits.group_rows:
            yield _sorted(table, held, wanted)

    def _next(self, group: _Group) -> tuple[str, TableWriter]:
        key = group.table, group.folder
        name = file_name(self.place, *key, self.whole["next"], self._numbers[key])
        self._numbers[key] += 1
        form = form_of(self.whole["types"], fingerprints=has_fingerprints(self.whole))
        rows = self.limits.group_rows
        create = partial(self.place.new, name)
        return name, TableWriter(group.table, create, rows, form.names(group.table), form)

    def _close(self, name: str, writer: TableWriter) -> None:
        writer.close()
        self.written.append(named(writer, name))


def _sorted(table: str, held: list[Batch], wanted: frozenset[str] | None) -> Any:
    """Return the rows of batches sorted by day, queue manager and time; clear the list `held`.

    Sorted copies replace the columns one by one, so memory contains the rows only once.
    """
    rows = joined(table, held, wanted)
    held.clear()
    if COUNTED_AT not in rows.column_names:
        return rows
    import pyarrow as pa
    import pyarrow.compute as pc

    times = rows[COUNTED_AT]
    keys = {"day": times.cast(pa.date32()), "qmgr": rows["qmgr"].cast(pa.string()), "at": times}
    order = pc.sort_indices(pa.table(keys), [(each, "ascending") for each in keys])
    whole, found = rows.schema, rows.columns
    del rows, times, keys
    for number in range(len(found)):
        found[number] = found[number].take(order)
    return pa.Table.from_arrays(found, schema=whole)
